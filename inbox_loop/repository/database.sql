-- name: configure_session
-- purpose: Bound what a session can wait for: a statement, a lock, and an open transaction that nobody goes on with.
--          Moments come back in UTC, whatever zone the server or the environment prefers.
-- reads: none
select set_config('timezone', 'UTC', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('lock_timeout', %(lock_timeout)s, false),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, false);

-- name: start_read_only
-- purpose: Make the transaction that was just begun refuse every write.
-- reads: none
set transaction read only;

-- name: find_server
-- purpose: The server's version and the database's encoding, before anything is asked of them.
-- reads: none
select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding;
