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
         select from pg_catalog.pg_class where relname = 'inbox_loop_migrations' and pg_table_is_visible(oid)) as exists;

-- name: create_history_table
-- purpose: Make the table that remembers what was applied. It bears our name: others who share the database keep a
--          schema_migrations of their own.
-- writes: inbox_loop_migrations
create table if not exists inbox_loop_migrations (
    version    integer     not null,
    name       text        not null,
    checksum   text        not null,
    applied_at timestamptz not null default now(),
    constraint inbox_loop_migrations_pk primary key (version)
);

-- name: use_one_path
-- purpose: Let a migration make everything in one schema, and find citext's operators, whoever migrates. A function that
--          keeps its path (set search_path from current) keeps this one: without citext's operators on it, refs would
--          compare by case.
-- reads: none
select set_config(
         'search_path',
         concat_ws(', ', quote_ident(current_schema()),
                   (select quote_ident(n.nspname)
                      from pg_extension as e
                      join pg_namespace as n on n.oid = e.extnamespace
                     where e.extname = 'citext' and n.nspname <> current_schema()),
                   'pg_temp'),
         true);

-- name: list_applied
-- purpose: What was applied, in order.
-- reads: inbox_loop_migrations
select version, name, checksum from inbox_loop_migrations order by version;

-- name: record_applied
-- purpose: Remember a migration, in the transaction that applied it.
-- writes: inbox_loop_migrations
insert into inbox_loop_migrations (version, name, checksum) values (%(version)s, %(name)s, %(checksum)s);

-- name: find_citext
-- purpose: Whether citext is on this session's path. Without its operators refs would compare by case, and silently so.
-- reads: none
select to_regtype('citext') is not null as found;
