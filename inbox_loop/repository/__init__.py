"""Postgres: the only importer of psycopg. Named SQL statements in .sql files, one .py beside each.

``database.py`` opens it, ``migrate.py`` keeps its schema, ``faults.py`` says what its errors mean. ``loop_store.py`` is
the store as the loop sees it; ``tasks.py``, ``messages.py``, ``health.py`` and ``tenants.py`` are for everyone else.
``upsert.py``, find-or-create, is for both.
"""
