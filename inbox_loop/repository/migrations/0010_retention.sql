-- Purging tasks for good, with what hangs on them. The ledger keeps its rows, so that nothing comes back.

create index tasks_deleted_ix on tasks (tenant_id, deleted_at) where deleted_at is not null;
create index tasks_completed_ix on tasks (tenant_id, completed_at) where completed_at is not null;

-- Whether a task must stay for now: somebody is still to be told of it, or a live idempotency key stands for it, whose
-- next use would create it again.
create function task_is_needed(p_tenant_id uuid, p_task_id uuid) returns boolean
language sql stable parallel safe security invoker
set search_path from current
return exists (
           select
             from notifications as o
            where o.tenant_id = p_tenant_id and o.task_id = p_task_id
              and (o.announced_at is null or o.delivered_at is null and o.gave_up_at is null))
    or exists (
           select
             from idempotency_keys as k
            where k.tenant_id = p_tenant_id and k.task_id = p_task_id
              and k.created_at > now() - idempotency_key_lifetime());
comment on function task_is_needed(uuid, uuid) is 'Whether task_purge leaves the task alone for now, however old it is.';

create function task_purge(
    p_tenant         text,
    p_deleted_after  interval default null,
    p_finished_after interval default null,
    p_limit          integer  default 1000
)
returns bigint
language plpgsql volatile parallel unsafe security invoker
set search_path from current
as $$
declare
    v_tenant uuid := tenant_of(p_tenant);
    v_purged bigint;
begin
    -- One purger of a tenant at a time: two would meet at parents and their children in opposite orders.
    perform pg_advisory_xact_lock(uuid_hash_extended(v_tenant, 7272));
    with doomed as (
        select t.task_id
          from tasks as t
         where t.tenant_id = v_tenant
           and (t.deleted_at < now() - p_deleted_after
                or t.completed_at < now() - p_finished_after and t.deleted_at is null)
           and not task_is_needed(v_tenant, t.task_id)
         limit p_limit
           for update skip locked
    )
    delete from tasks as t
     using doomed
     where t.tenant_id = v_tenant and t.task_id = doomed.task_id;
    get diagnostics v_purged = row_count;
    return v_purged;
end
$$;

comment on function task_purge(text, interval, interval, integer) is
'Purge for good at most p_limit tasks of the tenant: those deleted longer than p_deleted_after ago, and those done or '
'cancelled longer than p_finished_after ago; null spares that kind. Activity, notifications and keys go with them, children '
'lose their parent, and the ledger of messages stays, so that no poll or backfill makes them again. Answers how many; call '
'it until that is 0. Spared are tasks with a notification still to be delivered, or an idempotency key that still counts.';

create function task_purge_count(
    p_tenant         text,
    p_deleted_after  interval default null,
    p_finished_after interval default null
)
returns bigint
language sql stable parallel safe security invoker
set search_path from current
return (
    select count(*)
      from tasks as t
     where t.tenant_id = tenant_of(p_tenant)
       and (t.deleted_at < now() - p_deleted_after
            or t.completed_at < now() - p_finished_after and t.deleted_at is null)
       and not task_is_needed(t.tenant_id, t.task_id));
comment on function task_purge_count(text, interval, interval) is
'How many tasks task_purge would purge now, in all. A pure read.';
