"""Discover, ingest, poll, backfill, reconcile, and their schedule. Handed Gmail and the store; imports neither."""
