-- Delivery of notifications: told to listeners once, posted to a webhook at least once.

-- In one statement, which writes the table anew once. What was staged before there was any delivery is history, and nobody
-- waits for it.
alter table notifications
    add column event_id     uuid not null default gen_random_uuid(),
    add column announced_at timestamptz default now(),
    add column gave_up_at   timestamptz,
    alter column delivered_at type timestamptz using coalesce(delivered_at, now()),
    add constraint notifications_ended_ck check (delivered_at is null or gave_up_at is null);
alter table notifications alter column announced_at drop default;
comment on column notifications.event_id is
    'What a receiver tells repeated deliveries by. Random, so that a restored database does not use one again.';
comment on column notifications.announced_at is 'When listeners were told, by NOTIFY inbox_loop_tasks.';
comment on column notifications.gave_up_at is 'When delivery was given up, after too many attempts.';

create index notifications_unannounced_ix on notifications (notification_id) where announced_at is null;
drop index notifications_due_ix;
create index notifications_due_ix on notifications (next_attempt_at, tenant_id, notification_id)
    where delivered_at is null and gave_up_at is null;
create index notifications_gave_up_ix on notifications (tenant_id, gave_up_at) where gave_up_at is not null;
