-- name: find_mailbox
-- purpose: The mailbox of this name.
-- reads: tenants, mailboxes
select b.tenant_id, b.mailbox_id, b.name, b.address, b.cursor, b.cursor_moved_at, b.covered_since,
       b.sign_in, now() - b.cursor_moved_at as cursor_age
  from tenants as n
  join mailboxes as b on b.tenant_id = n.tenant_id
 where n.slug = %(tenant)s and b.name = %(mailbox)s;

-- name: lock_tenant
-- purpose: Let one mailbox of the tenant be made at a time; freed with the transaction.
-- writes: tenants
select tenant_id from tenants where slug = %(tenant)s for no key update;

-- name: rename_mailbox
-- purpose: Take over the mailbox that has this address under an earlier name, ledger and all, with the sign-in in use.
-- writes: mailboxes
update mailboxes
   set name = %(mailbox)s, sign_in = %(sign_in)s
 where tenant_id = %(tenant_id)s and lower(address) = lower(%(address)s)
returning name;

-- name: delete_health
-- purpose: Forget the heartbeat of a name the mailbox no longer has.
-- writes: mailbox_health
delete from mailbox_health as h
 using mailboxes as b
 where b.tenant_id = %(tenant_id)s and lower(b.address) = lower(%(address)s)
   and h.tenant_id = b.tenant_id and h.mailbox = b.name;

-- name: create_mailbox
-- purpose: Record a mailbox with its first cursor, and the sign-in that opens it.
-- writes: mailboxes
insert into mailboxes (tenant_id, name, address, cursor, sign_in)
values (%(tenant_id)s, %(mailbox)s, %(address)s, %(cursor)s, %(sign_in)s);

-- name: find_due
-- purpose: Pending rows whose time has come: polled and reconciled before backfilled, oldest first. The mailbox is named
--          by sub-selects, not joined, so that the rows come in the order of messages_due_ix and none is sorted.
-- reads: tenants, mailboxes, messages
select m.message_id, m.thread_id, m.attempts, now() - m.pending_since as age, m.revision, m.remint, m.insisted,
       m.wanted_after, m.wanted_before
  from messages as m
 where m.tenant_id = (select tenant_id from tenants where slug = %(tenant)s)
   and m.mailbox_id = (select b.mailbox_id
                         from tenants as n
                         join mailboxes as b on b.tenant_id = n.tenant_id
                        where n.slug = %(tenant)s and b.name = %(mailbox)s)
   and m.state = 'pending' and m.next_attempt_at <= now()
 order by (m.found_by = 'backfill'), m.seen_at, m.message_id
 limit %(limit)s;

-- name: find_pending
-- purpose: Those of the ids that are pending, whether their time has come or not, in the order of find_due.
-- reads: tenants, mailboxes, messages
select m.message_id, m.thread_id, m.attempts, now() - m.pending_since as age, m.revision, m.remint, m.insisted,
       m.wanted_after, m.wanted_before
  from tenants as n
  join mailboxes as b on b.tenant_id = n.tenant_id
  join messages as m on m.tenant_id = b.tenant_id and m.mailbox_id = b.mailbox_id
 where n.slug = %(tenant)s and b.name = %(mailbox)s
   and m.message_id = any (%(message_ids)s::text[]) and m.state = 'pending'
 order by (m.found_by = 'backfill'), m.seen_at, m.message_id;

-- name: count_pending
-- purpose: All pending rows, due or not.
-- reads: tenants, mailboxes, messages
select count(*) as pending
  from tenants as n
  join mailboxes as b on b.tenant_id = n.tenant_id
  join messages as m on m.tenant_id = b.tenant_id and m.mailbox_id = b.mailbox_id
 where n.slug = %(tenant)s and b.name = %(mailbox)s and m.state = 'pending';

-- name: bound_ingest_wait
-- purpose: Let this session wait for a lock within the bound given, and by that bound alone. A statement of its own: the
--          time a statement may take is settled when it starts.
-- reads: none
select set_config('statement_timeout', '0', false), set_config('lock_timeout', %(wait)s, false);

-- name: lock_ingest
-- purpose: Take the mailbox's ingest lock for this session, or wait for its holder.
-- reads: none
select pg_advisory_lock(hashtextextended('ingest ' || %(mailbox_id)s::text, 0));
