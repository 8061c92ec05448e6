-- A number for each ref, by which refs are looked up.
--
-- Behind row-level security Postgres takes no condition for an index that is not leakproof, and citext's equality is
-- not: a look-up by the ref itself would read the whole tenant. A comparison of numbers is leakproof. So a look-up
-- compares the ref's key, by index, and then the ref. What keeps refs unique is, as before, the ref.
--
-- A look-up compares the ref by "is not distinct from", which leaves open whether it is null. By "=" the index that keeps
-- refs unique could serve it as well, by the tenant alone; and before the first ANALYZE the planner thinks that just as
-- good, and reads the whole tenant for each ref.

-- Refs that are equal for citext have one key. Two others rarely share one, and the comparison of the ref tells them
-- apart.
create function ref_key(p_ref text) returns bigint
language sql immutable parallel safe
return hashtextextended(lower(p_ref), 0);
comment on function ref_key(text) is
    'The key that tasks.external_ref_key and container_ref_key hold for a ref: the same in upper and lower case.';

alter table tasks
    add column external_ref_key bigint generated always as (ref_key(external_ref::text)) stored,
    add column container_ref_key bigint generated always as (ref_key(container_ref::text)) stored;
comment on column tasks.external_ref_key is 'For look-ups: compare this by =, and external_ref by "is not distinct from".';
comment on column tasks.container_ref_key is 'For look-ups: compare this by =, and container_ref by "is not distinct from".';

create index tasks_external_ref_key_ix on tasks (tenant_id, external_ref_key)
    where external_ref_key is not null and deleted_at is null;

drop index tasks_tombstone_ix;
create index tasks_tombstone_ix on tasks (tenant_id, external_ref_key, deleted_at)
    where external_ref_key is not null and deleted_at is not null;

-- The number gives the tasks of a thread in the order in which pages are read.
drop index tasks_container_ref_ix;
create index tasks_container_ref_ix on tasks (tenant_id, container_ref_key, number) where container_ref_key is not null;
