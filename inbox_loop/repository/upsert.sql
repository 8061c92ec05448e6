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
