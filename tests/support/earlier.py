"""What users of each version of the schema may have left in it: odd, and valid there.

Each fill is what its version made possible, through that version's own tables and functions; it is valid in every
later one, and stays here for good. ``test_upgrade`` asks for a further one when a migration brings a table or a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import LiteralString

import psycopg

# Three tenants: ``acme`` with a task of every kind, ``globex`` with the same refs, mailbox and address, ``idle`` with
# none. Refs are in odd case and beyond ASCII, with letters whose case folds in other planes and lengths.
TABLES: LiteralString = r"""
insert into tenants (tenant_id, slug, created_at) values
  ('a0000000-0000-0000-0000-000000000000', 'acme', '2025-01-01Z'),
  ('b0000000-0000-0000-0000-000000000000', 'globex', '2025-01-02Z'),
  ('c0000000-0000-0000-0000-000000000000', 'idle', '2025-01-03Z');

insert into projects (tenant_id, project_id, name) values
  ('a0000000-0000-0000-0000-000000000000', 'a0000000-0000-0000-0001-000000000001', 'inbox'),
  ('b0000000-0000-0000-0000-000000000000', 'b0000000-0000-0000-0001-000000000001', 'inbox');

insert into tasks (tenant_id, task_id, number, project_id, parent_id, title, body, status, labels, external_ref,
                   container_ref, source, created_at, updated_at, completed_at, deleted_at)
select (a.tenant || '0000000-0000-0000-0000-000000000000')::uuid,
       (a.tenant || '0000000-0000-0000-0002-' || lpad(number::text, 12, '0'))::uuid,
       number,
       case when project then (a.tenant || '0000000-0000-0000-0001-000000000001')::uuid end,
       (a.tenant || '0000000-0000-0000-0002-' || lpad(parent::text, 12, '0'))::uuid,
       title, body, status, labels, external_ref, container_ref, source::jsonb,
       '2025-02-01Z'::timestamptz + number * interval '1 hour', '2025-03-01Z', completed_at::timestamptz,
       deleted_at::timestamptz
  from (values ('a'), ('b')) as a (tenant)
 cross join (values
   (1, true, null::integer, 'An ask', '', 'open', array['billing', 'Ünïcode'], 'GMAIL:18C2Ab#18C9Ff', 'GMAIL:18C2Ab',
    '{"mailbox": "desk", "account": "Desk@Example.com"}', null, null),
   (2, true, null, 'Done long ago', 'b', 'done', array[]::text[], 'gmail:18c2ab#18ca00', 'gmail:18c2ab', '{}',
    '2025-02-05Z', null),
   (3, false, null, 'Deleted, its ref taken again', '', 'open', array[]::text[], 'gmail:18c3#18c3', null, '{}', null,
    '2025-02-06Z'),
   (4, false, null, 'The live one', '', 'open', array[]::text[], 'GMAIL:18C3#18C3', null, '{}', null, null),
   (5, false, null, 'Deleted, nobody has its ref', '', 'done', array[]::text[], 'Stripe:evt_ÄÖÜ', null, '{}',
    '2025-02-05Z', '2025-02-07Z'),
   (6, false, null, 'Letters of all kinds', '', 'blocked', array[]::text[], 'Jira:ΑΣ-ÉCOLE/Ẽ-ẞß-İı-Ǆ-Ⅷ-日本', 'Jira:ΑΣ',
    '{}', null, null),
   (7, true, 1, 'A child, with no ref', '', 'in_progress', array[]::text[], null, null, '{}', null, null),
   (8, false, 3, 'A child of a deleted one', '', 'cancelled', array[]::text[], 'Child', null, '{}', '2025-02-08Z',
    null),
   (9, false, null, 'Done, nobody knows when', '', 'done', array[]::text[], repeat('𐐀𐐨', 256), repeat('𐐀', 512), '{}',
    null, null),
   (10, false, 10, 'Its own parent', '', 'open', array[]::text[], 'x', U&'  \0009e\0301 ', '{"deep": [{"a": null}]}',
    null, null),
   (11, true, null, repeat('ü', 1000), repeat('ab', 524288), 'open', array_fill(repeat('ß', 100), array[50]), 'y', null,
    '{}', null, null)) as t (number, project, parent, title, body, status, labels, external_ref, container_ref, source,
                             completed_at, deleted_at)
 where a.tenant = 'a' or number in (1, 2, 3, 4, 5);

insert into task_counters (tenant_id, next_number) values
  ('a0000000-0000-0000-0000-000000000000', 12),
  ('b0000000-0000-0000-0000-000000000000', 6),
  ('c0000000-0000-0000-0000-000000000000', 1);

insert into task_activity (tenant_id, task_id, kind, actor, detail, at)
select tenant_id, task_id, 'created', 'mailbox desk', '{}'::jsonb, created_at from tasks
union all
select tenant_id, task_id, 'finished', 'Añn', '{"summary": "Sent."}', completed_at from tasks where status = 'done'
   and completed_at is not null
union all
select tenant_id, task_id, 'deleted', 'ann', '{}', deleted_at from tasks where deleted_at is not null;

insert into notifications (tenant_id, topic, task_id, payload, created_at, delivered_at, attempts, next_attempt_at,
                           last_error)
select tenant_id, 'task.created', task_id, jsonb_build_object('number', number, 'external_ref', external_ref),
       created_at,
       case when number % 3 = 1 then created_at + interval '1 minute' end,
       case number % 3 when 0 then 0 else number end,
       created_at,
       case when number % 3 = 2 then 'the receiver answered 503' end
  from tasks;

insert into mailboxes (tenant_id, mailbox_id, name, address, cursor, cursor_moved_at, covered_since, sign_in) values
  ('a0000000-0000-0000-0000-000000000000', 'a0000000-0000-0000-0003-000000000001', 'desk', 'Desk@Example.com', 12345,
   '2025-03-01Z', '2025-01-05Z', 'abcdef'),
  ('a0000000-0000-0000-0000-000000000000', 'a0000000-0000-0000-0003-000000000002', 'sales', 'sales@example.com',
   18446744073709551615, '2025-03-02Z', '1970-01-01Z', null),
  ('b0000000-0000-0000-0000-000000000000', 'b0000000-0000-0000-0003-000000000001', 'desk', 'desk@example.com', 0,
   '2025-03-03Z', '2025-01-05Z', 'fedcba');

insert into mailbox_health (tenant_id, mailbox, daemon, beat_at, last_good_poll_at, last_error) values
  ('a0000000-0000-0000-0000-000000000000', 'desk', 'host:1', '2025-03-01Z', '2025-03-01Z', null),
  ('a0000000-0000-0000-0000-000000000000', 'never-read', 'host:1', '2025-03-01Z', null, 'Gmail does not answer');

insert into messages (tenant_id, mailbox_id, message_id, thread_id, state, reason, task_id, found_by, attempts,
                      next_attempt_at, revision, remint, wanted_after, wanted_before, internal_date, seen_at,
                      pending_since, settled_at)
select (a.tenant || '0000000-0000-0000-0000-000000000000')::uuid,
       (a.tenant || '0000000-0000-0000-0003-000000000001')::uuid,
       message_id, thread_id, state, reason,
       (a.tenant || '0000000-0000-0000-0002-' || lpad(task::text, 12, '0'))::uuid,
       found_by, attempts, '2025-02-01Z', revision, remint, wanted_after::timestamptz, wanted_before::timestamptz,
       internal_date::timestamptz, '2025-02-01Z', '2025-02-01Z',
       case when state <> 'pending' then '2025-02-02Z'::timestamptz end
  from (values ('a'), ('b')) as a (tenant)
 cross join (values
   ('18c9ff', '18c2ab', 'task', null, 1, 'poll', 0, 1, false, null, null, '2025-02-01Z'),
   ('18ca00', '18c2ab', 'task', null, 2, 'backfill', 2, 3, false, '2025-01-01Z', '2025-06-01Z', '2025-02-01Z'),
   ('18c3', '18c3', 'task', null, 3, 'reconcile', 0, 1, false, null, null, '2025-02-01Z'),
   ('18c4', '18c4', 'task', null, null, 'poll', 0, 1, false, null, null, '2025-02-01Z'),
   ('18c5', '18c5', 'pending', null, null, 'poll', 0, 1, false, null, null, null),
   ('18c6', '18c6', 'pending', 'gmail.unreachable', null, 'backfill', 9, 2, true, '2025-01-01Z', null, null),
   ('18c7', '18c7', 'skipped', 'task_deleted', null, 'poll', 0, 1, false, null, null, '2025-02-01Z'),
   ('18c8', '18c8', 'quarantined', 'refused_by_store', null, 'poll', 0, 1, false, null, null, '2025-02-01Z'),
   ('18c9', '18c9', 'gone', 'not_found', null, 'poll', 4, 1, false, null, null, null))
   as m (message_id, thread_id, state, reason, task, found_by, attempts, revision, remint, wanted_after, wanted_before,
         internal_date);
"""

UPSERTS: LiteralString = r"""
select * from task_upsert_by_external_ref(
  'acme', E' \tGMAIL:1F#2F ', 'By the function', 'A body', 'inbox', array['one'], ' gmail:1F ', '{"mailbox": "desk"}',
  'ann');
select * from task_upsert_by_external_ref(p_tenant => 'idle', p_external_ref => 'École#1', p_title => 'The first');
select * from task_upsert_batch_by_external_ref('globex', jsonb_build_array(
  jsonb_build_object('external_ref', 'Batch#Ä', 'title', 'One', 'labels', jsonb_build_array('l'), 'source',
                     jsonb_build_object('mailbox', 'desk')),
  jsonb_build_object('external_ref', 'batch#ä', 'title', 'The same'),
  jsonb_build_object('external_ref', 'Batch#Ö', 'title', 'Two', 'project', 'inbox')));
"""

CREATES: LiteralString = r"""
select * from task_create(
  'acme', 'With a key that counts', 'b', 'inbox', 1, array['one'], ' GMAIL:1F ', '{"a": 1}', 'Key-Ä', 'ann');
select * from task_create(p_tenant => 'acme', p_title => 'With a key that expired', p_idempotency_key => 'key 2');
select * from task_create(p_tenant => 'globex', p_title => 'The same key', p_idempotency_key => 'Key-Ä');
update idempotency_keys set created_at = now() - interval '73 hours' where key = 'key 2';
"""

STEPS: LiteralString = r"""
select * from task_create(p_tenant => 'acme', p_title => 'To be finished, opened again and cancelled');
select number from task_finish('acme', 15, 'Sent.');
select number from task_update('acme', 15, 'Öffnen', 'Another body', 'open', 'ann');
select number from task_cancel('acme', 15, 'No.');
select number from task_delete('acme', 6);
select number from task_restore('acme', 6);
select number from task_delete('acme', 11);
"""

DELIVERIES: LiteralString = r"""
update notifications set announced_at = now() where notification_id % 2 = 0;
update notifications set gave_up_at = now(), attempts = 12, last_error = 'the receiver answered 500'
 where delivered_at is null and notification_id % 4 = 0;
update notifications set next_attempt_at = now() + interval '1 hour', attempts = 3
 where delivered_at is null and notification_id % 4 = 1;
"""

BREADCRUMBS: LiteralString = r"""
update messages set sender = 'ann@bücher.example.org', rule = 'orders' where state = 'task';
update messages set rule = 'a-0_', insisted = true where state = 'pending';
"""

FILLS: Mapping[int, LiteralString] = {1: TABLES, 2: UPSERTS, 6: CREATES, 8: STEPS, 9: DELIVERIES, 12: BREADCRUMBS}


def fill(connection: psycopg.Connection[tuple[object, ...]], version: int) -> None:
    """Fill a database at this version of the schema with all that was possible there."""
    for since in sorted(FILLS):
        if since <= version:
            connection.execute(FILLS[since])
