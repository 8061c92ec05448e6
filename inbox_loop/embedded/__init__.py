"""A private Postgres server: started by its first user, ended with its last."""
