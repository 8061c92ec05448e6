-- name: configure_session
-- purpose: Bound what a session can wait for: a statement, a lock, and an open transaction that nobody goes on with.
--          Moments come back in UTC, whatever zone the server or the environment prefers.
-- reads: none
select set_config('timezone', 'UTC', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('lock_timeout', %(lock_timeout)s, false),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, false);

-- name: bind_tenant
-- purpose: Bind the session to a tenant: row-level security shows it the rows of that tenant alone. Empty for none.
-- reads: none
select set_config('inbox_loop.tenant_id', %(tenant_id)s, false);
