-- Look-ups by ref whose plan is right from the first task on.
--
-- A session keeps its plans until a table is analyzed, which may be a minute and thousands of tasks after its first look.
-- Before that, every index that begins with the tenant looks all but equally good to the planner. So what an index is
-- compared with is a value that is there already: a function yet to be called would count as a start-up cost, and the
-- planner would sooner read the tenant. Of equals it takes the youngest, which must be the one that has the ref.

drop index tasks_tombstone_ix;
create index tasks_tombstone_ix on tasks (tenant_id, external_ref_key, deleted_at)
    where external_ref_key is not null and deleted_at is not null;

-- The two functions are as before, with the keys of the refs in variables.

create or replace function task_upsert_batch_by_external_ref(
    p_tenant text,
    p_items  jsonb,
    p_actor  text default current_user
)
returns table (ord integer, task_id uuid, number bigint, status text, created boolean)
language plpgsql volatile parallel unsafe security invoker
set search_path from current
as $$
#variable_conflict use_column
declare
    v_tenant     uuid;
    v_refs       citext[];
    v_keys       bigint[];
    v_ids        uuid[];
    v_numbers    bigint[];
    v_statuses   text[];
    v_unknown    text;
    v_missing    bigint;
    v_base       bigint;
    v_new_refs   citext[] := '{}';
    v_new_ids    uuid[] := '{}';
    v_new_nums   bigint[] := '{}';
begin
    if p_items is null or jsonb_typeof(p_items) <> 'array' then
        raise exception 'p_items is not a JSON array' using errcode = 'invalid_parameter_value';
    end if;
    select n.tenant_id into v_tenant from tenants as n where n.slug = p_tenant;
    if not found then
        raise exception 'there is no tenant "%"', p_tenant
            using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_tenant_fk';
    end if;
    select array_agg(i.ref order by i.ord), array_agg(ref_key(i.ref::text) order by i.ord)
      into v_refs, v_keys
      from (select normal_ref(e.item ->> 'external_ref') as ref, e.ord
              from jsonb_array_elements(p_items) with ordinality as e (item, ord)) as i;
    if v_refs is null then
        return;
    end if;
    if array_position(v_refs, null) is not null or array_position(v_refs, '') is not null then
        raise exception 'external_ref is empty'
            using errcode = 'check_violation', table = 'tasks', constraint = 'tasks_external_ref_length_ck';
    end if;

    -- 1. Find: one index probe a ref, no lock, no transaction id. The limit keeps it that: the planner would rather read
    -- a tenant of some ten thousand tasks whole.
    select array_agg(t.task_id order by a.ord), array_agg(t.number order by a.ord), array_agg(t.status order by a.ord)
      into v_ids, v_numbers, v_statuses
      from unnest(v_refs, v_keys) with ordinality as a (ref, key, ord)
      left join lateral (
           select k.task_id, k.number, k.status
             from tasks as k
            where k.tenant_id = v_tenant
              and k.external_ref_key = a.key and k.external_ref is not distinct from a.ref
              and k.deleted_at is null
            limit 1) as t on true;

    if array_position(v_ids, null) is not null then
        -- 2. One creator a tenant at a time, and 3. whoever held the lock may have created some: look again.
        perform pg_advisory_xact_lock(uuid_hash_extended(v_tenant, 7271));
        select array_agg(coalesce(a.task_id, t.task_id) order by a.ord),
               array_agg(coalesce(a.number, t.number) order by a.ord),
               array_agg(coalesce(a.status, t.status) order by a.ord)
          into v_ids, v_numbers, v_statuses
          from unnest(v_refs, v_keys, v_ids, v_numbers, v_statuses) with ordinality
               as a (ref, key, task_id, number, status, ord)
          left join lateral (
               select k.task_id, k.number, k.status
                 from tasks as k
                where a.task_id is null and k.tenant_id = v_tenant
                  and k.external_ref_key = a.key and k.external_ref is not distinct from a.ref
                  and k.deleted_at is null
                limit 1) as t on true;
    end if;

    if array_position(v_ids, null) is not null then
        select i.item ->> 'project'
          into v_unknown
          from jsonb_array_elements(p_items) with ordinality as i (item, ord)
          join unnest(v_ids) with ordinality as a (task_id, ord) using (ord)
         where a.task_id is null
           and i.item ->> 'project' is not null
           and not exists (select from projects as p where p.tenant_id = v_tenant and p.name = i.item ->> 'project')
         limit 1;
        if found then
            raise exception 'tenant "%" has no project "%"', p_tenant, v_unknown
                using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_project_fk';
        end if;
        select c.next_number into v_base from task_counters as c where c.tenant_id = v_tenant for no key update;
        if not found then
            raise exception 'tenant "%" has no task counter', p_tenant
                using errcode = 'foreign_key_violation', table = 'tasks', constraint = 'tasks_tenant_fk';
        end if;

        -- 4. Create the missing ones, each ref once, numbered in the order of the items.
        with missing as materialized (
            select distinct on (a.ref) a.ref, a.ord, i.item
              from unnest(v_refs, v_ids) with ordinality as a (ref, task_id, ord)
              join jsonb_array_elements(p_items) with ordinality as i (item, ord) using (ord)
             where a.task_id is null
             order by a.ref, a.ord
        ), made as (
            insert into tasks as t
                   (tenant_id, number, project_id, title, body, labels, external_ref, container_ref, source)
            select v_tenant, v_base + row_number() over (order by m.ord) - 1, p.project_id, m.item ->> 'title',
                   coalesce(m.item ->> 'body', ''),
                   array(select jsonb_array_elements_text(coalesce(nullif(m.item -> 'labels', 'null'), '[]'))),
                   m.ref, normal_ref(m.item ->> 'container_ref'),
                   coalesce(nullif(m.item -> 'source', 'null'), '{}')
              from missing as m
              left join projects as p on p.tenant_id = v_tenant and p.name = m.item ->> 'project'
             order by m.ord
                on conflict (tenant_id, external_ref) where external_ref is not null and deleted_at is null do nothing
            returning t.task_id, t.number, t.external_ref
        ), told as (
            insert into task_activity (tenant_id, task_id, kind, actor)
            select v_tenant, made.task_id, 'created', p_actor from made order by made.number
        ), staged as (
            insert into notifications (tenant_id, topic, task_id, payload)
            select v_tenant, 'task.created', made.task_id,
                   jsonb_build_object('number', made.number, 'external_ref', made.external_ref)
              from made order by made.number
        )
        select (select count(*) from missing), array_agg(external_ref), array_agg(task_id), array_agg(number)
          into v_missing, v_new_refs, v_new_ids, v_new_nums
          from made;
        if v_missing <> coalesce(cardinality(v_new_ids), 0) then
            raise exception 'lost a race against a writer that does not take the lock'
                using errcode = 'serialization_failure', hint = 'Run the transaction again.';
        end if;
        update task_counters as c set next_number = v_base + v_missing where c.tenant_id = v_tenant;
    end if;

    -- 5. One row an item; of several items with one new ref, the first is the one that created it.
    return query
    select a.ord::integer,
           coalesce(a.task_id, m.task_id),
           coalesce(a.number, m.number),
           coalesce(a.status, 'open'),
           a.task_id is null and a.ord = min(a.ord) over (partition by a.ref)
      from unnest(v_refs, v_ids, v_numbers, v_statuses) with ordinality as a (ref, task_id, number, status, ord)
      left join unnest(v_new_refs, v_new_ids, v_new_nums) as m (ref, task_id, number)
        on a.task_id is null and m.ref = a.ref
     order by a.ord;
end
$$;

create or replace function task_find(p_tenant text, p_number bigint default null, p_external_ref text default null)
returns setof task_rows
language plpgsql stable parallel safe security invoker
set search_path from current
as $$
declare
    v_tenant  uuid := tenant_of(p_tenant);
    v_ref     citext := normal_ref(p_external_ref);
    v_key     bigint := ref_key(v_ref::text);
    v_task_id uuid;
begin
    if num_nonnulls(p_number, v_ref) <> 1 then
        raise exception 'a task is named by p_number or by p_external_ref' using errcode = 'invalid_parameter_value';
    end if;
    if p_number is not null then
        return query select r.* from task_rows as r where r.tenant_id = v_tenant and r.number = p_number;
        return;
    end if;
    select t.task_id into v_task_id
      from tasks as t
     where t.tenant_id = v_tenant
       and t.external_ref_key = v_key and t.external_ref is not distinct from v_ref
       and t.deleted_at is null;
    if not found then
        select t.task_id into v_task_id
          from tasks as t
         where t.tenant_id = v_tenant
           and t.external_ref_key = v_key and t.external_ref is not distinct from v_ref
           and t.deleted_at is not null
         order by t.deleted_at desc, t.number desc
         limit 1;
    end if;
    return query select r.* from task_rows as r where r.tenant_id = v_tenant and r.task_id = v_task_id;
end
$$;
