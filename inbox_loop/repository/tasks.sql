-- name: find_task
-- purpose: The task of this number, deleted or not.
-- reads: tenants, tasks, projects
select t.*, n.slug as tenant, p.name as project
  from tenants as n
  join tasks as t on t.tenant_id = n.tenant_id
  left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
 where n.slug = %(tenant)s and t.number = %(number)s;

-- name: find_tasks_by_ref
-- purpose: The live task that holds a ref, then its tombstones, newest first.
-- reads: tenants, tasks, projects
(select t.*, n.slug as tenant, p.name as project
   from tenants as n
   join tasks as t on t.tenant_id = n.tenant_id
   left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
  where n.slug = %(tenant)s and t.external_ref = normal_ref(%(ref)s) and t.deleted_at is null)
union all
(select t.*, n.slug as tenant, p.name as project
   from tenants as n
   join tasks as t on t.tenant_id = n.tenant_id
   left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
  where n.slug = %(tenant)s and t.external_ref = normal_ref(%(ref)s) and t.deleted_at is not null
  order by t.deleted_at desc
  limit 1)
order by deleted_at desc nulls first;

-- name: list_tasks
-- purpose: A page of tasks, newest number first, in the order of tasks_number_uq; each filter is left out when it is null.
--          The tasks of a mailbox are those of its account, under whichever name it was read then; where a task or the
--          mailbox has no account, its name decides. No index serves the filters: tasks are read until the page is full.
-- reads: tenants, tasks, projects, mailboxes
select t.*, %(tenant)s as tenant, p.name as project
  from tasks as t
  left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
 where t.tenant_id = (select tenant_id from tenants where slug = %(tenant)s)
   and (%(statuses)s::text[] is null or t.status = any (%(statuses)s::text[]))
   and (%(mailbox)s::text is null
        or coalesce(lower(t.source ->> 'account') = (select lower(b.address)
                                                       from tenants as n
                                                       join mailboxes as b on b.tenant_id = n.tenant_id
                                                      where n.slug = %(tenant)s and b.name = %(mailbox)s),
                    t.source ->> 'mailbox' = %(mailbox)s))
   and (%(include_deleted)s or t.deleted_at is null)
   and (%(before_number)s::bigint is null or t.number < %(before_number)s)
 order by t.number desc
 limit %(limit)s;

-- name: list_activity
-- purpose: What happened to a task, oldest first.
-- reads: tenants, task_activity
select a.at, a.kind, a.actor, a.detail
  from tenants as n
  join task_activity as a on a.tenant_id = n.tenant_id
 where n.slug = %(tenant)s and a.task_id = %(task_id)s
 order by a.activity_id;

-- name: finish_task
-- purpose: Mark a live task done if its status allows it, with its activity; no row when it is left as it was.
-- writes: tasks, task_activity
with changed as (
    update tasks as t
       set status = 'done', completed_at = now(), updated_at = now()
      from tenants as n
     where n.slug = %(tenant)s and t.tenant_id = n.tenant_id and t.number = %(number)s
       and t.deleted_at is null and t.status = any (%(statuses)s::text[])
    returning t.*, n.slug as tenant
), told as (
    insert into task_activity (tenant_id, task_id, kind, actor, detail)
    select changed.tenant_id, changed.task_id, 'finished', %(actor)s, %(detail)s from changed
)
select changed.*, p.name as project
  from changed
  left join projects as p on p.tenant_id = changed.tenant_id and p.project_id = changed.project_id;

-- name: delete_task
-- purpose: Make a live task a tombstone, with its activity; no row when there is none to delete.
-- writes: tasks, task_activity
with changed as (
    update tasks as t
       set deleted_at = now(), updated_at = now()
      from tenants as n
     where n.slug = %(tenant)s and t.tenant_id = n.tenant_id and t.number = %(number)s and t.deleted_at is null
    returning t.*, n.slug as tenant
), told as (
    insert into task_activity (tenant_id, task_id, kind, actor)
    select changed.tenant_id, changed.task_id, 'deleted', %(actor)s from changed
)
select changed.*, p.name as project
  from changed
  left join projects as p on p.tenant_id = changed.tenant_id and p.project_id = changed.project_id;
