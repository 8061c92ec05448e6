-- name: find_known
-- purpose: The ledger's word on those of the ids it knows.
-- reads: messages, tasks
select m.message_id, m.state, m.reason, m.internal_date, m.wanted_after, m.wanted_before,
       t.deleted_at is not null as task_deleted
  from messages as m
  left join tasks as t on t.tenant_id = m.tenant_id and t.task_id = m.task_id
 where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s and m.message_id = any (%(message_ids)s::text[]);

-- name: record_discovered
-- purpose: Add unknown ids as pending, in one order for all writers, so that two of them can't wait for each other.
-- writes: messages
insert into messages (tenant_id, mailbox_id, message_id, thread_id, found_by, wanted_after, wanted_before, remint)
select %(tenant_id)s, %(mailbox_id)s, seen.message_id, seen.thread_id, %(found_by)s, %(after)s, %(before)s, %(remint)s
  from unnest(%(message_ids)s::text[], %(thread_ids)s::text[]) as seen (message_id, thread_id)
 order by seen.message_id
    on conflict do nothing
returning message_id;

-- name: record_reopened
-- purpose: Make rows of any state pending again, due now, in a new revision; locked in one order for all writers.
-- writes: messages
with wanted as (
    select message_id
      from messages
     where tenant_id = %(tenant_id)s and mailbox_id = %(mailbox_id)s and message_id = any (%(message_ids)s::text[])
     order by message_id
       for no key update
)
update messages as m
   set state = 'pending', reason = null, attempts = 0, next_attempt_at = now(), revision = m.revision + 1,
       remint = m.remint or %(remint)s, insisted = m.insisted or %(insisted)s, rule = null,
       wanted_after = %(after)s, wanted_before = %(before)s, pending_since = now(), settled_at = null
  from wanted
 where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s and m.message_id = wanted.message_id
   and m.message_id = any (%(message_ids)s::text[])
returning m.message_id;

-- name: advance_cursor
-- purpose: Move the cursor forward; a value that is not higher changes nothing.
-- writes: mailboxes
update mailboxes
   set cursor = %(cursor)s, cursor_moved_at = now()
 where tenant_id = %(tenant_id)s and mailbox_id = %(mailbox_id)s and cursor < %(cursor)s
returning cursor;

-- name: record_coverage
-- purpose: Move covered_since back; a later moment changes nothing.
-- writes: mailboxes
update mailboxes
   set covered_since = %(since)s
 where tenant_id = %(tenant_id)s and mailbox_id = %(mailbox_id)s and covered_since > %(since)s
returning covered_since;

-- name: record_sign_in
-- purpose: Remember the fingerprint of the sign-in in use; the one that is remembered already changes nothing.
-- writes: mailboxes
update mailboxes
   set sign_in = %(sign_in)s
 where tenant_id = %(tenant_id)s and mailbox_id = %(mailbox_id)s and sign_in is distinct from %(sign_in)s
returning sign_in;

-- name: lock_pending
-- purpose: Hold the rows that are still pending in the revision that was read, in one order for all writers. A row that
--          another writer holds is waited for, and looked at again as it is then.
-- writes: messages
select m.message_id
  from messages as m
  join unnest(%(message_ids)s::text[], %(revisions)s::integer[]) as due (message_id, revision)
    on due.message_id = m.message_id and due.revision = m.revision
 where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s
   and m.message_id = any (%(message_ids)s::text[]) and m.state = 'pending'
 order by m.message_id
   for no key update of m;

-- name: find_ref_holders
-- purpose: Who holds each ref: the live task, else the newest tombstone; a ref nobody holds has no row.
-- reads: tasks
with asked as materialized (
    select ref as given, normal_ref(ref) as ref, ref_key(normal_ref(ref)::text) as key
      from unnest(%(external_refs)s::text[]) as line (ref)
)
select asked.given as asked, holder.external_ref::text as external_ref, holder.task_id, holder.number, holder.status,
       holder.deleted_at is not null as deleted, holder.source ->> 'mailbox' as source_mailbox,
       holder.source ->> 'account' as source_account
  from asked
 cross join lateral (
       (select t.external_ref, t.task_id, t.number, t.status, t.deleted_at, t.source
          from tasks as t
         where t.tenant_id = %(tenant_id)s
           and t.external_ref_key = asked.key and t.external_ref is not distinct from asked.ref
           and t.deleted_at is null
         limit 1)
       union all
       (select t.external_ref, t.task_id, t.number, t.status, t.deleted_at, t.source
          from tasks as t
         where t.tenant_id = %(tenant_id)s
           and t.external_ref_key = asked.key and t.external_ref is not distinct from asked.ref
           and t.deleted_at is not null
         order by t.deleted_at desc
         limit 1)
        order by deleted_at desc nulls first
        limit 1) as holder;

-- name: count_sender_tasks
-- purpose: How many messages of each sender and hour are tasks, counted no further than asked; one row each, in order.
-- reads: messages
select asked.sender, asked.hour, counted.tasks
  from unnest(%(senders)s::text[], %(hours)s::timestamptz[]) with ordinality as asked (sender, hour, position)
 cross join lateral (
       select count(*) as tasks
         from (select 1
                 from messages as m
                where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s and m.state = 'task'
                  and m.sender = asked.sender
                  and m.internal_date >= asked.hour and m.internal_date < asked.hour + interval '1 hour'
                limit %(at_most)s) as enough) as counted
 order by asked.position;

-- name: record_outcomes
-- purpose: Settle rows that are still pending in the revision that was read, locked in one order for all writers.
--          An outcome that is pending counts an attempt and says when to try again.
-- writes: messages
with outcome as (
    select *
      from unnest(%(message_ids)s::text[], %(revisions)s::integer[], %(states)s::text[], %(reasons)s::text[],
                  %(task_ids)s::uuid[], %(thread_ids)s::text[], %(internal_dates)s::timestamptz[],
                  %(retries_in)s::interval[], %(rules)s::text[], %(senders)s::text[])
           as o (message_id, revision, state, reason, task_id, thread_id, internal_date, retry_in, rule, sender)
), pending as (
    select m.message_id, m.revision
      from messages as m
     where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s
       and m.message_id = any (%(message_ids)s::text[]) and m.state = 'pending'
     order by m.message_id
       for no key update
)
update messages as m
   set state = o.state,
       reason = o.reason,
       thread_id = coalesce(o.thread_id, m.thread_id),
       internal_date = coalesce(o.internal_date, m.internal_date),
       attempts = case when o.state = 'pending' then m.attempts + 1 else m.attempts end,
       next_attempt_at = case when o.state = 'pending' then now() + coalesce(o.retry_in, interval '0')
                              else m.next_attempt_at end,
       task_id = case when o.state = 'pending' then m.task_id else o.task_id end,
       remint = m.remint and o.state = 'pending',
       rule = o.rule,
       sender = coalesce(o.sender, m.sender),
       settled_at = case when o.state = 'pending' then null else now() end
  from outcome as o
  join pending as p on p.message_id = o.message_id and p.revision = o.revision
 where m.tenant_id = %(tenant_id)s and m.mailbox_id = %(mailbox_id)s and m.message_id = o.message_id
   and m.message_id = any (%(message_ids)s::text[])
   and m.state = 'pending' and m.revision = o.revision
returning m.message_id;
