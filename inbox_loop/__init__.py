"""inbox-loop: a Gmail mailbox becomes tasks in Postgres, one per message, exactly once."""

__version__ = "0.1.0"
