-- Tasks as people and programs see them: how one is found, how they are listed and counted. Only reads.

create view task_rows with (security_invoker = true) as
select t.tenant_id, t.task_id, t.number, n.slug as tenant, p.name as project, m.number as parent, t.title, t.body,
       t.status, t.labels, t.external_ref::text as external_ref, t.container_ref::text as container_ref, t.source,
       t.created_at, t.updated_at, t.completed_at, t.deleted_at
  from tasks as t
  join tenants as n on n.tenant_id = t.tenant_id
  left join projects as p on p.tenant_id = t.tenant_id and p.project_id = t.project_id
  left join tasks as m on m.tenant_id = t.tenant_id and m.task_id = t.parent_id;
comment on view task_rows is
    'Tasks with the names of their tenant and project and the number of their parent; deleted ones too.';

create function task_find(p_tenant text, p_number bigint default null, p_external_ref text default null)
returns setof task_rows
language plpgsql stable parallel safe security invoker
set search_path from current
as $$
declare
    v_tenant  uuid := tenant_of(p_tenant);
    v_ref     citext := normal_ref(p_external_ref);
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
       and t.external_ref_key = ref_key(v_ref::text) and t.external_ref is not distinct from v_ref
       and t.deleted_at is null;
    if not found then
        select t.task_id into v_task_id
          from tasks as t
         where t.tenant_id = v_tenant
           and t.external_ref_key = ref_key(v_ref::text) and t.external_ref is not distinct from v_ref
           and t.deleted_at is not null
         order by t.deleted_at desc, t.number desc
         limit 1;
    end if;
    return query select r.* from task_rows as r where r.tenant_id = v_tenant and r.task_id = v_task_id;
end
$$;

comment on function task_find(text, bigint, text) is
'The task of this number, deleted or not; or the live task that holds this external_ref, else the one that was deleted '
'last of those that held it. No row when there is none. A pure read.';

-- What is still to be done is looked for time and again, behind ever more that is done.
create index tasks_unfinished_ix on tasks (tenant_id, number)
    where status in ('open', 'in_progress', 'blocked') and deleted_at is null;

-- Which tasks fit, newest number first. Planned anew at each call, for the filters that are given.
create function task_numbers(
    p_tenant_id       uuid,
    p_statuses        text[],
    p_labels          text[],
    p_container_ref   text,
    p_mailbox         text,
    p_text            text,
    p_since           timestamptz,
    p_include_deleted boolean,
    p_before_number   bigint,
    p_limit           bigint
)
returns setof bigint
language plpgsql stable parallel safe security invoker rows 50
set search_path from current
set plan_cache_mode = force_custom_plan
as $$
declare
    v_container citext := normal_ref(p_container_ref);
    v_text      text := lower(p_text);
    v_account   text;
begin
    -- The tasks of a mailbox are those of its account, under whichever name it was read then; where a task or the
    -- mailbox has no account, its name decides.
    select lower(b.address) into v_account
      from mailboxes as b
     where b.tenant_id = p_tenant_id and b.name = p_mailbox;
    return query
    select t.number
      from tasks as t
     where t.tenant_id = p_tenant_id
       and (p_statuses is null or t.status = any (p_statuses))
       and (p_labels is null or t.labels @> p_labels)
       and (v_container is null
            or t.container_ref_key = ref_key(v_container::text) and t.container_ref is not distinct from v_container)
       and (p_mailbox is null
            or coalesce(lower(t.source ->> 'account') = v_account, t.source ->> 'mailbox' = p_mailbox))
       and (v_text is null
            or position(v_text in lower(t.title)) > 0 or position(v_text in lower(t.body)) > 0)
       and (p_since is null or t.created_at >= p_since)
       and (p_include_deleted or t.deleted_at is null)
       and (p_before_number is null or t.number < p_before_number)
     order by t.number desc
     limit p_limit;
end
$$;

comment on function task_numbers(uuid, text[], text[], text, text, text, timestamptz, boolean, bigint, bigint) is
'The numbers that task_list and task_count are made of.';

create function task_list(
    p_tenant          text,
    p_statuses        text[]      default null,
    p_labels          text[]      default null,
    p_container_ref   text        default null,
    p_mailbox         text        default null,
    p_text            text        default null,
    p_since           timestamptz default null,
    p_include_deleted boolean     default false,
    p_before_number   bigint      default null,
    p_limit           integer     default 50
)
returns setof task_rows
language plpgsql stable parallel safe security invoker
set search_path from current
as $$
declare
    v_tenant uuid := tenant_of(p_tenant);
begin
    -- The limit makes it a look-up for each: the planner would rather read a tenant of a few thousand tasks whole.
    return query
    select one.*
      from task_numbers(v_tenant, p_statuses, p_labels, p_container_ref, p_mailbox, p_text, p_since, p_include_deleted,
                        p_before_number, p_limit) as fits (number)
     cross join lateral (
           select r.* from task_rows as r where r.tenant_id = v_tenant and r.number = fits.number limit 1) as one
     order by fits.number desc;
end
$$;

comment on function task_list(text, text[], text[], text, text, text, timestamptz, boolean, bigint, integer) is
'A page of the tenant''s tasks, newest number first; for the next one give the last number as p_before_number. Filters '
'that are null fit any: one of p_statuses, all of p_labels, p_container_ref (case does not count), p_mailbox (all tasks of '
'its account), p_text (occurs in title or body, case does not count, no wildcards), created at p_since or later. Deleted '
'tasks are left out unless p_include_deleted. Tasks are read from the newest down until the page is full; those of a '
'container, and those that are not finished, by an index. A pure read.';

create function task_count(
    p_tenant          text,
    p_statuses        text[]      default null,
    p_labels          text[]      default null,
    p_container_ref   text        default null,
    p_mailbox         text        default null,
    p_text            text        default null,
    p_since           timestamptz default null,
    p_include_deleted boolean     default false
)
returns bigint
language sql stable parallel safe security invoker
set search_path from current
return (
    select count(*)
      from task_numbers(tenant_of(p_tenant), p_statuses, p_labels, p_container_ref, p_mailbox, p_text, p_since,
                        p_include_deleted, null, null));

comment on function task_count(text, text[], text[], text, text, text, timestamptz, boolean) is
'How many tasks task_list would list over all of its pages. A pure read.';
