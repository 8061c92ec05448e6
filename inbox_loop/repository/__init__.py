"""Postgres: the only importer of psycopg. Named SQL statements in .sql files, one .py beside each."""
