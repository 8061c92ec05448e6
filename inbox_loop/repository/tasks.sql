-- name: create_task
-- purpose: Create a task, or find the one that its idempotency key stands for; one row.
-- writes: tasks, task_counters, task_activity, notifications, idempotency_keys
select task_id, number, status, created, deleted
  from task_create(
         p_tenant => %(tenant)s, p_title => %(title)s, p_body => %(body)s, p_project => %(project)s,
         p_parent => %(parent)s, p_labels => %(labels)s, p_container_ref => %(container_ref)s,
         p_source => %(source)s, p_idempotency_key => %(idempotency_key)s, p_actor => %(actor)s);

-- name: find_key_holder
-- purpose: The number of the task that a live idempotency key stands for.
-- reads: idempotency_keys, tasks
select t.number
  from idempotency_keys as k
  join tasks as t on t.tenant_id = k.tenant_id and t.task_id = k.task_id
 where k.tenant_id = %(tenant_id)s and k.key = %(idempotency_key)s
   and k.created_at > now() - idempotency_key_lifetime();

-- name: find_ref_holder
-- purpose: The number of the live task that holds the ref of the task of this number.
-- reads: tasks
select holder.number
  from tasks as t
 cross join lateral (
       select k.number
         from tasks as k
        where k.tenant_id = t.tenant_id and k.external_ref_key = t.external_ref_key
          and k.external_ref is not distinct from t.external_ref and k.deleted_at is null
        limit 1) as holder
 where t.tenant_id = %(tenant_id)s and t.number = %(number)s;

-- name: find_task
-- purpose: The task of this number, deleted or not.
-- reads: task_rows
select * from task_find(p_tenant => %(tenant)s, p_number => %(number)s);

-- name: find_task_by_ref
-- purpose: The live task that holds a ref, else its newest tombstone.
-- reads: task_rows
select * from task_find(p_tenant => %(tenant)s, p_external_ref => %(ref)s);

-- name: list_tasks
-- purpose: A page of tasks, newest number first; each filter is left out when it is null.
-- reads: task_rows, mailboxes
select *
  from task_list(
         p_tenant => %(tenant)s, p_statuses => %(statuses)s, p_labels => %(labels)s,
         p_container_ref => %(container_ref)s, p_mailbox => %(mailbox)s, p_text => %(text)s, p_since => %(since)s,
         p_include_deleted => %(include_deleted)s, p_before_number => %(before_number)s, p_limit => %(limit)s);

-- name: count_tasks
-- purpose: How many tasks fit; each filter is left out when it is null.
-- reads: tasks, mailboxes
select task_count(
         p_tenant => %(tenant)s, p_statuses => %(statuses)s, p_labels => %(labels)s,
         p_container_ref => %(container_ref)s, p_mailbox => %(mailbox)s, p_text => %(text)s, p_since => %(since)s,
         p_include_deleted => %(include_deleted)s) as tasks;

-- name: list_activity
-- purpose: What happened to a task, oldest first.
-- reads: task_activity
select at, kind, actor, detail
  from task_activity
 where tenant_id = %(tenant_id)s and task_id = %(task_id)s
 order by activity_id;

-- name: update_task
-- purpose: Change title, body or status of a live task, with its activity; its row as it is then.
-- writes: tasks, task_activity
select *
  from task_update(
         p_tenant => %(tenant)s, p_number => %(number)s, p_title => %(title)s, p_body => %(body)s,
         p_status => %(status)s, p_actor => %(actor)s);

-- name: finish_task
-- purpose: Mark a live task done, with its activity; its row as it is then.
-- writes: tasks, task_activity
select * from task_finish(p_tenant => %(tenant)s, p_number => %(number)s, p_summary => %(note)s, p_actor => %(actor)s);

-- name: cancel_task
-- purpose: Mark a live task cancelled, with its activity; its row as it is then.
-- writes: tasks, task_activity
select * from task_cancel(p_tenant => %(tenant)s, p_number => %(number)s, p_reason => %(note)s, p_actor => %(actor)s);

-- name: delete_task
-- purpose: Make a task a tombstone, with its activity; its row as it is then.
-- writes: tasks, task_activity
select * from task_delete(p_tenant => %(tenant)s, p_number => %(number)s, p_actor => %(actor)s);

-- name: restore_task
-- purpose: Bring a deleted task back, with its activity; its row as it is then.
-- writes: tasks, task_activity
select * from task_restore(p_tenant => %(tenant)s, p_number => %(number)s, p_actor => %(actor)s);
