"""A private Postgres server: started by its first user, ended with its last.

How the parts hang together. The *folder* holds data, locks and logs (``folders.py``). A *user* is an open
``use_embedded()`` (``server.py``); it holds a shared lock on ``users.lock``, which the kernel frees however the
user's process ends. The *supervisor* is a small process of its own (``supervisor.py``) which owns Postgres, so that the
server survives the user that happened to start it; it waits for the exclusive lock on ``users.lock``, and getting it
means that nobody is left. The *server account* is whom Postgres runs as (``account.py``): root is not allowed to.

Four lock files, all taken with ``flock``:

==================  ========================  ===================================================================
file                held by                   means
==================  ========================  ===================================================================
``start.lock``      whoever finds or starts   one at a time looks for the supervisor and starts it
``users.lock``      each user, shared         somebody needs the server; held alone: the supervisor is stopping it
``supervisor.lock`` the supervisor            there is one; tried only under ``start.lock``
``postgres.lock``   every process of Postgres the data is in use, orphans of a killed supervisor included
==================  ========================  ===================================================================
"""
