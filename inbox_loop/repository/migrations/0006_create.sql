-- Tasks without a ref, and idempotency keys for whoever repeats a create because its answer was lost.

create table idempotency_keys (
    tenant_id    uuid        not null,
    key          text        not null,
    content_hash bytea       not null,
    task_id      uuid        not null,
    created_at   timestamptz not null default now(),
    constraint idempotency_keys_pk primary key (tenant_id, key),
    constraint idempotency_keys_task_fk foreign key (tenant_id, task_id) references tasks (tenant_id, task_id)
        on delete cascade,
    constraint idempotency_keys_key_ck check (char_length(key) between 1 and 200),
    constraint idempotency_keys_content_hash_ck check (octet_length(content_hash) = 32)
);
comment on table idempotency_keys is
    'Which create each key stood for. A key means nothing 72 hours after it, whether or not its row was purged by then.';
create index idempotency_keys_task_ix on idempotency_keys (tenant_id, task_id);
create index idempotency_keys_created_ix on idempotency_keys (created_at);
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy tenant_wall on idempotency_keys using (coalesce(tenant_id = (select bound_tenant()), true));

create function idempotency_key_lifetime() returns interval
language sql immutable parallel safe
return interval '72 hours';

comment on function idempotency_key_lifetime() is 'How long an idempotency key means something.';

-- What a key is bound to. As JSON, so that no two different creates are written alike: a title can't reach into the
-- project, and nothing differs from an empty text.
create function idempotency_content_hash(p_project text, p_title text, p_parent bigint) returns bytea
language sql stable parallel safe
return sha256(convert_to(jsonb_build_array(p_project, p_title, p_parent)::text, 'UTF8'));

comment on function idempotency_content_hash(text, text, bigint) is 'What an idempotency key is bound to.';

create function tenant_of(p_tenant text) returns uuid
language plpgsql stable parallel safe security invoker
set search_path from current
as $$
declare
    v_tenant uuid;
begin
    select n.tenant_id into v_tenant from tenants as n where n.slug = p_tenant;
    if not found then
        raise exception 'there is no tenant "%"', p_tenant
            using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_tenant_fk';
    end if;
    return v_tenant;
end
$$;

comment on function tenant_of(text) is 'The id of the tenant of this slug; an error where there is none.';

create function task_create(
    p_tenant          text,
    p_title           text,
    p_body            text   default '',
    p_project         text   default null,
    p_parent          bigint default null,
    p_labels          text[] default '{}',
    p_container_ref   text   default null,
    p_source          jsonb  default '{}',
    p_idempotency_key text   default null,
    p_actor           text   default current_user
)
returns table (task_id uuid, number bigint, status text, created boolean, deleted boolean)
language plpgsql volatile parallel unsafe security invoker
set search_path from current
as $$
#variable_conflict use_column
declare
    v_tenant  uuid := tenant_of(p_tenant);
    v_hash    bytea;
    v_bound   bytea;
    v_parent  uuid;
    v_project uuid;
begin
    if p_idempotency_key is not null then
        v_hash := idempotency_content_hash(p_project, p_title, p_parent);
        -- Looked for twice: first as a pure read, then as the only creator of the tenant.
        for attempt in 1..2 loop
            select k.content_hash, t.task_id, t.number, t.status, t.deleted_at is not null
              into v_bound, task_id, number, status, deleted
              from idempotency_keys as k
              join tasks as t on t.tenant_id = k.tenant_id and t.task_id = k.task_id
             where k.tenant_id = v_tenant and k.key = p_idempotency_key
               and k.created_at > now() - idempotency_key_lifetime();
            if found and v_bound = v_hash then
                created := false;
                return next;
                return;
            elsif found then
                raise exception 'the idempotency key stands for task % with another project, title or parent', number
                    using errcode = 'unique_violation', table = 'idempotency_keys',
                          constraint = 'idempotency_keys_content_ck',
                          hint = 'Use a new key for a new task.';
            end if;
            exit when attempt = 2;
            perform pg_advisory_xact_lock(uuid_hash_extended(v_tenant, 7271));
        end loop;
    else
        perform pg_advisory_xact_lock(uuid_hash_extended(v_tenant, 7271));
    end if;

    if p_project is not null then
        select p.project_id into v_project from projects as p where p.tenant_id = v_tenant and p.name = p_project;
        if not found then
            raise exception 'tenant "%" has no project "%"', p_tenant, p_project
                using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_project_fk';
        end if;
    end if;
    if p_parent is not null then
        select t.task_id into v_parent
          from tasks as t
         where t.tenant_id = v_tenant and t.number = p_parent and t.deleted_at is null;
        if not found then
            raise exception 'tenant "%" has no task % that could be a parent', p_tenant, p_parent
                using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_parent_fk';
        end if;
    end if;

    with counted as (
        update task_counters as c
           set next_number = c.next_number + 1
         where c.tenant_id = v_tenant
        returning c.next_number - 1 as number
    ), made as (
        insert into tasks as t (tenant_id, number, project_id, parent_id, title, body, labels, container_ref, source)
        select v_tenant, counted.number, v_project, v_parent, p_title, coalesce(p_body, ''), coalesce(p_labels, '{}'),
               normal_ref(p_container_ref), coalesce(p_source, '{}')
          from counted
        returning t.task_id, t.number, t.status
    ), told as (
        insert into task_activity (tenant_id, task_id, kind, actor)
        select v_tenant, made.task_id, 'created', p_actor from made
    ), staged as (
        insert into notifications (tenant_id, topic, task_id, payload)
        select v_tenant, 'task.created', made.task_id, jsonb_build_object('number', made.number) from made
    )
    select made.task_id, made.number, made.status into task_id, number, status from made;
    if not found then
        raise exception 'tenant "%" has no task counter', p_tenant
            using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_tenant_fk';
    end if;

    if p_idempotency_key is not null then
        -- A key that has lived its time is taken over.
        insert into idempotency_keys as k (tenant_id, key, content_hash, task_id)
        values (v_tenant, p_idempotency_key, v_hash, task_id)
            on conflict on constraint idempotency_keys_pk do update
           set content_hash = excluded.content_hash, task_id = excluded.task_id, created_at = excluded.created_at
         where k.created_at <= now() - idempotency_key_lifetime();
        if not found then
            raise exception 'another writer used the idempotency key meanwhile'
                using errcode = 'serialization_failure', hint = 'Run the transaction again.';
        end if;
    end if;
    created := true;
    deleted := false;
    return next;
end
$$;

comment on function task_create(text, text, text, text, bigint, text[], text, jsonb, text, text) is
'Create a task without an external_ref in the tenant p_tenant (its slug). One row: task_id, number, status, created: '
'whether this call made it, and deleted: whether somebody deleted it since. Where the work has a name of its own, use task_upsert_by_external_ref: that holds for ever.

'
'p_idempotency_key (1 to 200 characters) is for repeating a call whose answer was lost. It is bound to p_project, p_title '
'and p_parent. Within 72 hours the same key with the same three answers the first call''s task, whatever became of it, '
'deleted too, and changes nothing; with others it is refused (SQLSTATE 23505, idempotency_keys_content_ck). Then it means '
'nothing, and the next call with it creates a task.

'
'p_parent is the number of a live task. p_labels are set here, once. Limits and what a create writes are those of '
'task_upsert_by_external_ref, and so is the advice on transactions.';

create function idempotency_key_purge(p_limit integer default 10000) returns bigint
language plpgsql volatile parallel unsafe security invoker
set search_path from current
as $$
declare
    v_purged bigint;
begin
    with dead as (
        select k.tenant_id, k.key
          from idempotency_keys as k
         where k.created_at <= now() - idempotency_key_lifetime()
         order by k.created_at
         limit p_limit
           for update skip locked
    )
    delete from idempotency_keys as k
     using dead
     where k.tenant_id = dead.tenant_id and k.key = dead.key;
    get diagnostics v_purged = row_count;
    return v_purged;
end
$$;

comment on function idempotency_key_purge(integer) is
'Purge at most p_limit idempotency keys that have lived their 72 hours, and answer how many. For space alone: such a key '
'means nothing already.';
