-- name: find_unannounced
-- purpose: Whether any notification was not announced yet.
-- reads: notifications
select exists (select from notifications where announced_at is null) as waiting;

-- name: announce
-- purpose: Tell listeners of the oldest notifications that they were not told of yet, in the order they were staged.
--          Rows that another relay has in hand are left to it. Each is told once: NOTIFY comes with the commit.
-- writes: notifications
with due as materialized (
    select n.tenant_id, n.notification_id
      from notifications as n
     where n.announced_at is null
     order by n.notification_id
     limit %(limit)s
       for update skip locked
), announced as (
    update notifications as n
       set announced_at = now()
      from due
     where n.tenant_id = due.tenant_id and n.notification_id = due.notification_id
    returning n.tenant_id, n.notification_id, n.topic, n.event_id, n.task_id
), told as materialized (
    select a.*, s.slug, t.number
      from announced as a
      join tenants as s on s.tenant_id = a.tenant_id
      join tasks as t on t.tenant_id = a.tenant_id and t.task_id = a.task_id
     order by a.notification_id
)
select pg_notify('inbox_loop_tasks',
                 json_build_object('topic', topic, 'event_id', event_id, 'tenant', slug, 'number', number,
                                   'task_id', task_id)::text)
  from told
 order by notification_id;

-- name: find_closable
-- purpose: Whether any notification was announced and is neither delivered nor given up.
-- reads: notifications
select exists (select
                 from notifications
                where delivered_at is null and gave_up_at is null and announced_at is not null) as closable;

-- name: close_announced
-- purpose: Count as delivered what was announced and has no receiver. Rows that another has in hand are left to it.
-- writes: notifications
with announced as materialized (
    select n.tenant_id, n.notification_id
      from notifications as n
     where n.delivered_at is null and n.gave_up_at is null and n.announced_at is not null
     limit %(limit)s
       for update skip locked
)
update notifications as n
   set delivered_at = now(), last_error = null
  from announced as a
 where n.tenant_id = a.tenant_id and n.notification_id = a.notification_id
returning n.notification_id;

-- name: find_due
-- purpose: Whether any delivery's time has come.
-- reads: notifications
select exists (select
                 from notifications
                where delivered_at is null and gave_up_at is null and next_attempt_at <= now()) as due;

-- name: claim_due
-- purpose: Take the deliveries that have waited longest: one more attempt, and no one else's before the lease is over.
-- writes: notifications
with due as materialized (
    select n.tenant_id, n.notification_id
      from notifications as n
     where n.delivered_at is null and n.gave_up_at is null and n.next_attempt_at <= now()
     order by n.next_attempt_at, n.tenant_id, n.notification_id
     limit %(limit)s
       for update skip locked
), claimed as (
    update notifications as n
       set attempts = n.attempts + 1, next_attempt_at = now() + %(lease)s
      from due
     where n.tenant_id = due.tenant_id and n.notification_id = due.notification_id
    returning n.tenant_id, n.notification_id, n.event_id, n.topic, n.created_at, n.attempts,
              n.next_attempt_at as claimed_until, n.task_id
)
select c.*, s.slug as tenant, t.number, p.name as project, t.title, t.status, t.labels, t.external_ref::text,
       t.container_ref::text, t.created_at as task_created_at
  from claimed as c
  join tenants as s on s.tenant_id = c.tenant_id
  join tasks as t on t.tenant_id = c.tenant_id and t.task_id = c.task_id
  left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
 order by c.notification_id;

-- name: record_delivered
-- purpose: The receiver has it, whoever has claimed it since.
-- writes: notifications
update notifications
   set delivered_at = now(), gave_up_at = null, last_error = null
 where tenant_id = %(tenant_id)s and notification_id = %(notification_id)s and delivered_at is null
returning notification_id;

-- name: record_failed
-- purpose: The attempt failed, and the next one is due after a wait; no row when it was claimed anew meanwhile.
-- writes: notifications
update notifications
   set last_error = %(error)s, next_attempt_at = now() + %(retry_in)s
 where tenant_id = %(tenant_id)s and notification_id = %(notification_id)s and attempts = %(attempts)s
   and next_attempt_at = %(claimed_until)s and delivered_at is null and gave_up_at is null
returning notification_id;

-- name: record_given_up
-- purpose: The attempt failed and was the last; no row when it was claimed anew meanwhile.
-- writes: notifications
update notifications
   set last_error = %(error)s, gave_up_at = now()
 where tenant_id = %(tenant_id)s and notification_id = %(notification_id)s and attempts = %(attempts)s
   and next_attempt_at = %(claimed_until)s and delivered_at is null and gave_up_at is null
returning notification_id;

-- name: release
-- purpose: Give a claimed delivery back at once; no row when it was claimed anew meanwhile.
-- writes: notifications
update notifications
   set attempts = attempts - 1, next_attempt_at = now()
 where tenant_id = %(tenant_id)s and notification_id = %(notification_id)s and attempts = %(attempts)s
   and next_attempt_at = %(claimed_until)s and delivered_at is null and gave_up_at is null
returning notification_id;

-- name: find_outbox_state
-- purpose: How many notifications of these tenants wait, for an announcement or for a delivery, since when, and how
--          many were given up.
-- reads: tenants, notifications
select count(*) filter (where n.announced_at is null) as unannounced,
       min(n.created_at) filter (where n.announced_at is null) as oldest_unannounced_at,
       count(*) filter (where n.delivered_at is null and n.gave_up_at is null) as undelivered,
       min(n.created_at) filter (where n.delivered_at is null and n.gave_up_at is null) as oldest_undelivered_at,
       count(*) filter (where n.gave_up_at is not null) as given_up
  from tenants as s
  join notifications as n on n.tenant_id = s.tenant_id
 where s.slug = any (%(tenants)s::text[])
   -- The conditions of the three partial indexes, so that they are what is read.
   and (n.announced_at is null or (n.delivered_at is null and n.gave_up_at is null) or n.gave_up_at is not null);

-- name: list_undelivered
-- purpose: The notifications of these tenants that were given up or wait to be delivered: given up ones first, then by
--          the time of their next attempt.
-- reads: tenants, notifications, tasks
select s.slug as tenant, t.number as task_number, n.event_id, n.topic, n.created_at, n.attempts, n.next_attempt_at,
       n.last_error, n.announced_at, n.gave_up_at
  from tenants as s
  join notifications as n on n.tenant_id = s.tenant_id
  join tasks as t on t.tenant_id = n.tenant_id and t.task_id = n.task_id
 where s.slug = any (%(tenants)s::text[])
   -- All that is not delivered, in the words of the two partial indexes.
   and ((n.delivered_at is null and n.gave_up_at is null) or n.gave_up_at is not null)
 order by n.gave_up_at nulls last, n.next_attempt_at, n.notification_id
 limit %(limit)s;

-- name: retry_given_up
-- purpose: Set the given up deliveries of these tenants going again, with all their attempts before them.
-- writes: notifications
update notifications as n
   set gave_up_at = null, attempts = 0, next_attempt_at = now()
  from tenants as s
 where s.slug = any (%(tenants)s::text[]) and n.tenant_id = s.tenant_id and n.gave_up_at is not null
returning n.notification_id;
