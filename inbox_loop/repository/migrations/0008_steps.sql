-- The steps of a task's life after its creation: change, finish, cancel, delete, restore.
--
-- A step decides on what it sees. Only where there is something to change does it lock the task, and then it decides
-- again on what is there by now. A step whose end is reached already is a pure read.

-- Where a task can go from where it stands; the program has the same table. Only a claim leads to in_progress.
create function status_move_allowed(p_from text, p_to text) returns boolean
language sql immutable parallel safe
return case p_from
         when 'open'        then p_to in ('done', 'blocked', 'cancelled')
         when 'in_progress' then p_to in ('open', 'done', 'blocked', 'cancelled')
         when 'blocked'     then p_to in ('open', 'done', 'cancelled')
         when 'done'        then p_to = 'open'
         when 'cancelled'   then p_to = 'open'
         else false
       end;
comment on function status_move_allowed(text, text) is 'Whether a task of status p_from can be given the status p_to.';

-- All steps are this one. Null leaves a field as it is. p_kind names the step in the activity, p_note is added there.
create function task_step(
    p_tenant  text,
    p_number  bigint,
    p_kind    text,
    p_title   text,
    p_body    text,
    p_status  text,
    p_deleted boolean,
    p_note    jsonb,
    p_actor   text
)
returns setof task_rows
language plpgsql volatile parallel unsafe security invoker
set search_path from current
as $$
declare
    v_tenant  uuid := tenant_of(p_tenant);
    v_old     tasks;
    v_new     tasks;
    v_holder  bigint;
    v_locked  boolean := false;
begin
    if p_status not in ('open', 'in_progress', 'done', 'blocked', 'cancelled') then
        raise exception 'there is no status "%"', p_status
            using errcode = 'check_violation', table = 'tasks', constraint = 'tasks_status_ck';
    end if;
    if char_length(coalesce(p_note ->> 'summary', p_note ->> 'reason')) > 10000 then
        raise exception 'a summary or reason is at most 10000 characters'
            using errcode = 'check_violation', table = 'task_activity', constraint = 'task_activity_note_ck';
    end if;
    select t.* into v_old from tasks as t where t.tenant_id = v_tenant and t.number = p_number;
    loop
        if v_old.task_id is null then
            raise exception 'tenant "%" has no task %', p_tenant, p_number
                using errcode = 'no_data_found', table = 'tasks', constraint = 'tasks_known_ck';
        end if;
        v_new := v_old;
        v_new.title := coalesce(p_title, v_old.title);
        v_new.body := coalesce(p_body, v_old.body);
        v_new.status := coalesce(p_status, v_old.status);
        if coalesce(p_deleted, v_old.deleted_at is not null) <> (v_old.deleted_at is not null) then
            v_new.deleted_at := case when p_deleted then now() end;
        end if;

        if v_old.deleted_at is not null and p_deleted is null then
            raise exception 'task % is deleted', p_number
                using errcode = 'check_violation', table = 'tasks', constraint = 'tasks_live_ck',
                      hint = 'Restore it first.';
        end if;
        exit when v_new is not distinct from v_old;
        if v_new.status <> v_old.status and not status_move_allowed(v_old.status, v_new.status) then
            raise exception 'task % is %, and can not become %', p_number, v_old.status, v_new.status
                using errcode = 'check_violation', table = 'tasks', constraint = 'tasks_status_move_ck';
        end if;
        if v_locked then
            if v_new.deleted_at is null and v_old.deleted_at is not null then
                select t.number into v_holder
                  from tasks as t
                 where t.tenant_id = v_tenant and t.external_ref_key = v_old.external_ref_key
                   and t.external_ref is not distinct from v_old.external_ref and t.deleted_at is null;
                if found then
                    raise exception 'task % can not be restored: task % holds its external_ref', p_number, v_holder
                        using errcode = 'unique_violation', table = 'tasks',
                              constraint = 'tasks_tenant_external_ref_uq';
                end if;
            end if;
            update tasks as t
               set title = v_new.title, body = v_new.body, status = v_new.status, deleted_at = v_new.deleted_at,
                   completed_at = case when v_new.status in ('done', 'cancelled') then coalesce(t.completed_at, now()) end,
                   updated_at = now()
             where t.tenant_id = v_tenant and t.task_id = v_old.task_id;
            insert into task_activity (tenant_id, task_id, kind, actor, detail)
            values (v_tenant, v_old.task_id, p_kind, p_actor, coalesce(p_note, '{}') || jsonb_strip_nulls(jsonb_build_object(
                    'title', case when v_new.title <> v_old.title
                             then jsonb_build_object('from', v_old.title, 'to', v_new.title) end,
                    'status', case when v_new.status <> v_old.status
                              then jsonb_build_object('from', v_old.status, 'to', v_new.status) end,
                    'body_bytes', case when v_new.body <> v_old.body
                                  then jsonb_build_object('from', octet_length(v_old.body),
                                                          'to', octet_length(v_new.body)) end)));
            exit;
        end if;
        if p_deleted = false then
            -- A restore takes a ref, as a create does, and waits its turn in the same place.
            perform pg_advisory_xact_lock(uuid_hash_extended(v_tenant, 7271));
        end if;
        select t.* into v_old
          from tasks as t
         where t.tenant_id = v_tenant and t.number = p_number
           for no key update;
        v_locked := true;
    end loop;
    return query select r.* from task_rows as r where r.tenant_id = v_tenant and r.number = p_number;
end
$$;

comment on function task_step(text, bigint, text, text, text, text, boolean, jsonb, text) is
'What task_update, task_finish, task_cancel, task_delete and task_restore are made of; call those.';

create function task_update(
    p_tenant text,
    p_number bigint,
    p_title  text default null,
    p_body   text default null,
    p_status text default null,
    p_actor  text default current_user
)
returns setof task_rows
language sql volatile parallel unsafe security invoker
set search_path from current
begin atomic
    select * from task_step(p_tenant, p_number, 'updated', p_title, p_body, p_status, null, null, p_actor);
end;
comment on function task_update(text, bigint, text, text, text, text) is
'Change title, body or status of a live task; null leaves a field as it is. Answers the task as it is then. A change that '
'changes nothing is a pure read. Statuses move as status_move_allowed says; only a claim leads to in_progress.';

create function task_finish(p_tenant text, p_number bigint, p_summary text default null, p_actor text default current_user)
returns setof task_rows
language sql volatile parallel unsafe security invoker
set search_path from current
begin atomic
    select *
      from task_step(p_tenant, p_number, 'finished', null, null, 'done', null,
                     jsonb_strip_nulls(jsonb_build_object('summary', nullif(p_summary, ''))), p_actor);
end;
comment on function task_finish(text, bigint, text, text) is
'Mark a live task done; p_summary goes into its activity. A task that is done already is left as it is.';

create function task_cancel(p_tenant text, p_number bigint, p_reason text default null, p_actor text default current_user)
returns setof task_rows
language sql volatile parallel unsafe security invoker
set search_path from current
begin atomic
    select *
      from task_step(p_tenant, p_number, 'cancelled', null, null, 'cancelled', null,
                     jsonb_strip_nulls(jsonb_build_object('reason', nullif(p_reason, ''))), p_actor);
end;
comment on function task_cancel(text, bigint, text, text) is
'Mark a live task cancelled: nobody is to work it; p_reason goes into its activity. A task that is cancelled already is '
'left as it is.';

create function task_delete(p_tenant text, p_number bigint, p_actor text default current_user)
returns setof task_rows
language sql volatile parallel unsafe security invoker
set search_path from current
begin atomic
    select * from task_step(p_tenant, p_number, 'deleted', null, null, null, true, null, p_actor);
end;
comment on function task_delete(text, bigint, text) is
'Make a task a tombstone: it keeps its external_ref for the record and no longer holds it, so that the next upsert creates '
'a new task. The loop does not. A task that is deleted already is left as it is.';

create function task_restore(p_tenant text, p_number bigint, p_actor text default current_user)
returns setof task_rows
language sql volatile parallel unsafe security invoker
set search_path from current
begin atomic
    select * from task_step(p_tenant, p_number, 'restored', null, null, null, false, null, p_actor);
end;
comment on function task_restore(text, bigint, text) is
'Bring a deleted task back as it was. Where another live task holds its external_ref by now, it is refused (SQLSTATE '
'23505, tasks_tenant_external_ref_uq). A task that is not deleted is left as it is.';
