-- Tenants, projects, tasks and their history, mailboxes and the ledger of their messages.
--
-- The tenant is part of every primary key, unique index and foreign key, so that the schema can be distributed, or
-- partitioned, by it. Names: <table>_pk, and <table>_<what>_uq, _fk, _ck, _ix. A program that meets one of these
-- names in an error says what it means in plain words.

create extension if not exists citext;

-- Everything below lands in one schema, and the functions stay bound to it and to citext's operators, whoever calls.
select set_config(
         'search_path',
         concat_ws(', ', quote_ident(current_schema()),
                   (select quote_ident(n.nspname)
                      from pg_extension as e
                      join pg_namespace as n on n.oid = e.extnamespace
                     where e.extname = 'citext' and n.nspname <> current_schema()),
                   'pg_temp'),
         true);

create table tenants (
    tenant_id  uuid        not null default gen_random_uuid(),
    slug       text        not null,
    created_at timestamptz not null default now(),
    constraint tenants_pk primary key (tenant_id),
    constraint tenants_slug_uq unique (slug),
    constraint tenants_slug_ck check (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);

create table task_counters (
    tenant_id   uuid   not null,
    next_number bigint not null default 1,
    constraint task_counters_pk primary key (tenant_id),
    constraint task_counters_tenant_fk foreign key (tenant_id) references tenants (tenant_id),
    constraint task_counters_next_number_ck check (next_number >= 1)
) with (fillfactor = 50);
comment on table task_counters is
    'The next task number of each tenant. Taken only by a genuine create, in its transaction: no gaps.';

create table projects (
    tenant_id  uuid        not null,
    project_id uuid        not null default gen_random_uuid(),
    name       text        not null,
    created_at timestamptz not null default now(),
    constraint projects_pk primary key (tenant_id, project_id),
    constraint projects_name_uq unique (tenant_id, name),
    constraint projects_tenant_fk foreign key (tenant_id) references tenants (tenant_id),
    constraint projects_name_ck check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);

-- At most 50 labels of 1 to 100 characters, none missing. In plpgsql, because it is called at each create: as an SQL
-- function it was half of an insert's cost.
create function labels_fit(p_labels text[]) returns boolean
language plpgsql immutable parallel safe
as $$
declare
    v_label text;
begin
    if cardinality(p_labels) > 50 then
        return false;
    end if;
    foreach v_label in array p_labels loop
        if v_label is null or char_length(v_label) not between 1 and 100 then
            return false;
        end if;
    end loop;
    return true;
end
$$;

create table tasks (
    tenant_id     uuid        not null,
    task_id       uuid        not null default gen_random_uuid(),
    number        bigint      not null,
    project_id    uuid,
    parent_id     uuid,
    title         text        not null,
    body          text        not null default '',
    status        text        not null default 'open',
    labels        text[]      not null default '{}',
    external_ref  citext,
    container_ref citext,
    source        jsonb       not null default '{}',
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    completed_at  timestamptz,
    deleted_at    timestamptz,
    constraint tasks_number_uq unique (tenant_id, number),
    constraint tasks_tenant_fk foreign key (tenant_id) references tenants (tenant_id),
    constraint tasks_project_fk foreign key (tenant_id, project_id) references projects (tenant_id, project_id),
    constraint tasks_title_ck check (char_length(title) between 1 and 1000),
    constraint tasks_body_ck check (octet_length(body) <= 1048576),
    constraint tasks_status_ck check (status in ('open', 'in_progress', 'done', 'blocked', 'cancelled')),
    constraint tasks_completed_ck check (completed_at is null or status in ('done', 'cancelled')),
    constraint tasks_labels_ck check (labels_fit(labels)),
    constraint tasks_external_ref_length_ck check (char_length(external_ref) between 1 and 512),
    constraint tasks_external_ref_form_ck check (
        external_ref::text is nfc normalized
        and external_ref::text !~ '[[:cntrl:]]'
        and external_ref::text !~ '^\s|\s$'),
    constraint tasks_container_ref_length_ck check (char_length(container_ref) between 1 and 512),
    constraint tasks_source_ck check (jsonb_typeof(source) = 'object')
);
-- The primary keys of the two large tables come after their other keys on the tenant: before the first ANALYZE all of
-- these look equally good to the planner, which then takes the youngest. An older primary key made each foreign key read
-- the whole tenant.
alter table tasks
    add constraint tasks_pk primary key (tenant_id, task_id),
    add constraint tasks_parent_fk foreign key (tenant_id, parent_id) references tasks (tenant_id, task_id)
        on delete set null (parent_id);
comment on column tasks.external_ref is
    'Names the unit of work. Unique among the live tasks of a tenant, compared without regard to case.';
comment on column tasks.container_ref is
    'Names what the unit of work hangs in (a thread): for grouping and search, never for dedup. Case does not count.';
comment on column tasks.deleted_at is
    'Set on a soft-deleted task, a tombstone: it keeps its ref for the record, and no longer holds it.';

create unique index tasks_tenant_external_ref_uq on tasks (tenant_id, external_ref)
    where external_ref is not null and deleted_at is null;
create index tasks_tombstone_ix on tasks (tenant_id, external_ref, deleted_at)
    where external_ref is not null and deleted_at is not null;
create index tasks_container_ref_ix on tasks (tenant_id, container_ref) where container_ref is not null;
create index tasks_parent_ix on tasks (tenant_id, parent_id) where parent_id is not null;
create index tasks_project_ix on tasks (tenant_id, project_id) where project_id is not null;

create sequence task_activity_id_seq;
create table task_activity (
    tenant_id   uuid        not null,
    activity_id bigint      not null default nextval('task_activity_id_seq'),
    task_id     uuid        not null,
    kind        text        not null,
    actor       text        not null,
    detail      jsonb       not null default '{}',
    at          timestamptz not null default now(),
    constraint task_activity_pk primary key (tenant_id, activity_id),
    constraint task_activity_task_fk foreign key (tenant_id, task_id) references tasks (tenant_id, task_id)
        on delete cascade,
    constraint task_activity_kind_ck check (kind ~ '^[a-z_]{1,40}$'),
    constraint task_activity_actor_ck check (char_length(actor) between 1 and 200),
    constraint task_activity_detail_ck check (jsonb_typeof(detail) = 'object')
);
comment on table task_activity is 'What happened to a task: one row for each real change, none for a read.';
create index task_activity_task_ix on task_activity (tenant_id, task_id, activity_id);

create sequence notifications_id_seq;
create table notifications (
    tenant_id       uuid        not null,
    notification_id bigint      not null default nextval('notifications_id_seq'),
    topic           text        not null,
    task_id         uuid        not null,
    payload         jsonb       not null default '{}',
    created_at      timestamptz not null default now(),
    delivered_at    timestamptz,
    attempts        integer     not null default 0,
    next_attempt_at timestamptz not null default now(),
    last_error      text,
    constraint notifications_pk primary key (tenant_id, notification_id),
    constraint notifications_task_fk foreign key (tenant_id, task_id) references tasks (tenant_id, task_id)
        on delete cascade,
    constraint notifications_topic_ck check (topic ~ '^[a-z_.]{1,60}$'),
    constraint notifications_payload_ck check (jsonb_typeof(payload) = 'object'),
    constraint notifications_attempts_ck check (attempts >= 0)
);
comment on table notifications is
    'The outbox: staged in the transaction of the change it tells of, delivered after the commit by a relay.';
create index notifications_task_ix on notifications (tenant_id, task_id);
create index notifications_due_ix on notifications (next_attempt_at, tenant_id, notification_id)
    where delivered_at is null;

create table mailboxes (
    tenant_id       uuid        not null,
    mailbox_id      uuid        not null default gen_random_uuid(),
    name            text        not null,
    address         text        not null,
    cursor          numeric     not null,
    cursor_moved_at timestamptz not null default now(),
    covered_since   timestamptz not null default now(),
    sign_in         text,
    created_at      timestamptz not null default now(),
    constraint mailboxes_pk primary key (tenant_id, mailbox_id),
    constraint mailboxes_name_uq unique (tenant_id, name),
    constraint mailboxes_tenant_fk foreign key (tenant_id) references tenants (tenant_id),
    constraint mailboxes_name_ck check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    constraint mailboxes_address_ck check (char_length(address) between 3 and 320),
    constraint mailboxes_cursor_ck check (cursor >= 0 and cursor = trunc(cursor)),
    constraint mailboxes_sign_in_ck check (char_length(sign_in) between 1 and 200)
);
comment on column mailboxes.cursor is
    'The historyId up to which every id of the mailbox is in the ledger. Only moves forward.';
comment on column mailboxes.covered_since is
    'Mail since then is meant to be in the ledger: the first touch, or earlier once a backfill is complete.';
comment on column mailboxes.sign_in is
    'Fingerprint of the sign-in that was last found to open this mailbox''s account. No secret.';
create unique index mailboxes_address_uq on mailboxes (tenant_id, lower(address));

create table mailbox_health (
    tenant_id         uuid        not null,
    mailbox           text        not null,
    daemon            text        not null,
    beat_at           timestamptz not null default now(),
    last_good_poll_at timestamptz,
    last_error        text,
    constraint mailbox_health_pk primary key (tenant_id, mailbox),
    constraint mailbox_health_tenant_fk foreign key (tenant_id) references tenants (tenant_id),
    constraint mailbox_health_mailbox_ck check (mailbox ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    constraint mailbox_health_daemon_ck check (char_length(daemon) between 1 and 200),
    constraint mailbox_health_last_error_ck check (char_length(last_error) <= 2000)
) with (fillfactor = 50);
comment on table mailbox_health is
    'The last heartbeat about each mailbox, by its configured name: it has one even when it could never be read.';

create table messages (
    tenant_id       uuid        not null,
    mailbox_id      uuid        not null,
    message_id      text        not null,
    thread_id       text        not null,
    state           text        not null default 'pending',
    reason          text,
    task_id         uuid,
    found_by        text        not null,
    attempts        integer     not null default 0,
    next_attempt_at timestamptz not null default now(),
    revision        integer     not null default 1,
    remint          boolean     not null default false,
    wanted_after    timestamptz,
    wanted_before   timestamptz,
    internal_date   timestamptz,
    seen_at         timestamptz not null default now(),
    pending_since   timestamptz not null default now(),
    settled_at      timestamptz,
    constraint messages_mailbox_fk foreign key (tenant_id, mailbox_id) references mailboxes (tenant_id, mailbox_id),
    constraint messages_task_fk foreign key (tenant_id, task_id) references tasks (tenant_id, task_id)
        on delete set null (task_id),
    constraint messages_message_id_ck check (char_length(message_id) between 1 and 64),
    constraint messages_thread_id_ck check (char_length(thread_id) between 1 and 64),
    constraint messages_state_ck check (state in ('pending', 'task', 'skipped', 'quarantined', 'gone')),
    constraint messages_reason_ck check (char_length(reason) between 1 and 200),
    constraint messages_found_by_ck check (found_by in ('poll', 'backfill', 'reconcile')),
    constraint messages_attempts_ck check (attempts >= 0),
    constraint messages_revision_ck check (revision >= 1),
    constraint messages_settled_ck check ((state = 'pending') = (settled_at is null))
);
comment on table messages is
    'The ledger: one row for each message ever seen in a mailbox, with what became of it and why.';
comment on column messages.revision is
    'Goes up whenever the row is reopened, so that what was read before can not settle it.';
comment on column messages.pending_since is 'When the message was first seen or last reopened.';

create index messages_due_ix on messages (tenant_id, mailbox_id, (found_by = 'backfill'), seen_at, message_id)
    where state = 'pending';
create index messages_state_ix on messages (tenant_id, mailbox_id, state);
create index messages_seen_ix on messages (tenant_id, seen_at, mailbox_id, message_id);
create index messages_task_ix on messages (tenant_id, task_id) where task_id is not null;
-- Last, for the reason given at tasks.
alter table messages add constraint messages_pk primary key (tenant_id, mailbox_id, message_id);
