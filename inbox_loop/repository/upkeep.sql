-- name: find_write_position
-- purpose: Where the server's writing stands: bytes of WAL so far, and the next transaction id.
-- reads: none
select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as wal_bytes,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next_transaction;

-- name: vacuum
-- purpose: Clear away dead row versions and settle pages, as autovacuum does in its own time.
-- writes: every table
vacuum (analyze);
