-- name: find_live_task
-- purpose: The live task that holds a ref, by the ref's key; no row when there is none. The key comes from a select of its
--          own, so that the index is compared with a value: see 0011_young_plans.sql.
-- reads: tasks
select task_id, number, status, false as created
  from tasks
 where tenant_id = %(tenant_id)s
   and external_ref_key = (select ref_key(%(ref)s)) and external_ref is not distinct from %(ref)s::citext
   and deleted_at is null;

-- name: find_live_tasks
-- purpose: The same for many refs, a line each: a row a ref, in order, empty for a ref that no live task holds. The limit
--          makes it a look-up for each: the planner would rather read a tenant of some ten thousand tasks whole.
-- reads: tasks
with asked as materialized (
    select ref::citext, ref_key(ref) as key, ord
      from string_to_table(%(refs)s, E'\n') with ordinality as line (ref, ord)
)
select t.task_id, t.number, t.status, false as created
  from asked
  left join lateral (
       select k.task_id, k.number, k.status
         from tasks as k
        where k.tenant_id = %(tenant_id)s
          and k.external_ref_key = asked.key and k.external_ref is not distinct from asked.ref
          and k.deleted_at is null
        limit 1) as t on true
 order by asked.ord;

-- name: upsert_task
-- purpose: Find or create the task of one ref; one row.
-- writes: tasks, task_counters, task_activity, notifications
select task_id, number, status, created
  from task_upsert_by_external_ref(
         p_tenant => %(tenant)s, p_external_ref => %(external_ref)s, p_title => %(title)s, p_body => %(body)s,
         p_project => %(project)s, p_labels => %(labels)s, p_container_ref => %(container_ref)s,
         p_source => %(source)s, p_actor => %(actor)s);

-- name: upsert_tasks
-- purpose: Find or create the tasks of many refs, one row an item, in order.
-- writes: tasks, task_counters, task_activity, notifications
select task_id, number, status, created
  from task_upsert_batch_by_external_ref(p_tenant => %(tenant)s, p_items => %(items)s, p_actor => %(actor)s)
 order by ord;
