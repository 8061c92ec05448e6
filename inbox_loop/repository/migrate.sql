-- name: wait_as_long_as_it_takes
-- purpose: Lift the bound on a statement's time in this transaction: an index over a large table is slow, and right.
--          Another migrator is waited for, within a bound.
-- reads: none
select set_config('statement_timeout', '0', true), set_config('lock_timeout', '60s', true);

-- name: lock_schema
-- purpose: Let one migrator work at a time; freed with the transaction.
-- reads: none
select pg_advisory_xact_lock(hashtextextended('inbox-loop schema', 0));

-- name: find_history_table
-- purpose: Whether any migration was ever applied here. Asked of the catalog's rows: to_regclass may answer from a
--          cache, which another migrator's commit does not refresh within our transaction.
-- reads: none
select exists (
         select from pg_catalog.pg_class where relname = 'schema_migrations' and pg_table_is_visible(oid)) as exists;

-- name: create_history_table
-- purpose: Make the table that remembers what was applied.
-- writes: schema_migrations
create table if not exists schema_migrations (
    version    integer     not null,
    name       text        not null,
    checksum   text        not null,
    applied_at timestamptz not null default now(),
    constraint schema_migrations_pk primary key (version)
);

-- name: list_applied
-- purpose: What was applied, in order.
-- reads: schema_migrations
select version, name, checksum from schema_migrations order by version;

-- name: record_applied
-- purpose: Remember a migration, in the transaction that applied it.
-- writes: schema_migrations
insert into schema_migrations (version, name, checksum) values (%(version)s, %(name)s, %(checksum)s);

-- name: find_citext
-- purpose: Whether citext is on this session's path. Without its operators refs would compare by case, and silently so.
-- reads: none
select to_regtype('citext') is not null as found;
