"""Telling a receiver of new tasks by HTTP: what is posted, how it is signed, and the post itself."""
