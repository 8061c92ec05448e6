-- name: list_messages
-- purpose: A page of the ledger, newest first, in the order of messages_seen_ix; each filter is left out when it is null.
-- reads: tenants, messages, mailboxes, tasks
select b.name as mailbox, m.message_id, m.thread_id, m.state, m.reason, m.attempts, m.next_attempt_at, m.seen_at,
       m.found_by, m.settled_at, m.internal_date, t.number as task_number, t.status as task_status,
       t.deleted_at as task_deleted_at, t.external_ref::text as external_ref, m.rule, m.insisted,
       t.source -> 'quote_cut_characters' as quote_cut_characters, t.source -> 'headers_only' as headers_only
  from messages as m
  join mailboxes as b on b.tenant_id = m.tenant_id and b.mailbox_id = m.mailbox_id
  left join tasks as t on t.tenant_id = m.tenant_id and t.task_id = m.task_id
 where m.tenant_id = (select tenant_id from tenants where slug = %(tenant)s)
   and (%(mailbox)s::text is null or b.name = %(mailbox)s)
   and (%(state)s::text is null or m.state = %(state)s)
   and (%(before_seen)s::timestamptz is null
        or (m.seen_at, m.mailbox_id, m.message_id)
           < (%(before_seen)s,
              (select b.mailbox_id
                 from tenants as n
                 join mailboxes as b on b.tenant_id = n.tenant_id
                where n.slug = %(tenant)s and b.name = %(before_mailbox)s),
              %(before_message)s))
 order by m.seen_at desc, m.mailbox_id desc, m.message_id desc
 limit %(limit)s;

-- name: find_message
-- purpose: The ledger's rows of one message id: one a mailbox that has seen it.
-- reads: tenants, messages, mailboxes, tasks
select b.name as mailbox, m.message_id, m.thread_id, m.state, m.reason, m.attempts, m.next_attempt_at, m.seen_at,
       m.found_by, m.settled_at, m.internal_date, t.number as task_number, t.status as task_status,
       t.deleted_at as task_deleted_at, t.external_ref::text as external_ref, m.rule, m.insisted,
       t.source -> 'quote_cut_characters' as quote_cut_characters, t.source -> 'headers_only' as headers_only
  from tenants as n
  join mailboxes as b on b.tenant_id = n.tenant_id
  join messages as m on m.tenant_id = b.tenant_id and m.mailbox_id = b.mailbox_id
  left join tasks as t on t.tenant_id = m.tenant_id and t.task_id = m.task_id
 where n.slug = %(tenant)s
   and (%(mailbox)s::text is null or b.name = %(mailbox)s)
   and m.message_id = %(message_id)s
 order by b.name;
