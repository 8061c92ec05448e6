-- name: purge_tasks
-- purpose: Remove a batch of the tenant's tasks that are past their time, with what hangs on them; how many.
-- writes: tasks, task_activity, notifications, idempotency_keys, messages
select task_purge(
         p_tenant => %(tenant)s, p_deleted_after => %(deleted_after)s, p_finished_after => %(finished_after)s,
         p_limit => %(limit)s) as purged;

-- name: count_purgeable
-- purpose: How many of the tenant's tasks are past their time.
-- reads: tasks, notifications, idempotency_keys
select task_purge_count(
         p_tenant => %(tenant)s, p_deleted_after => %(deleted_after)s,
         p_finished_after => %(finished_after)s) as purgeable;

-- name: purge_idempotency_keys
-- purpose: Remove a batch of the keys of all tenants that mean nothing any more; how many.
-- writes: idempotency_keys
select idempotency_key_purge(p_limit => %(limit)s) as purged;
