-- Tenants are walls: a session that is bound to a tenant sees and writes the rows of that tenant alone.
--
-- What a session is bound to is its setting inbox_loop.tenant_id. A session that is bound to none, of a person at psql
-- or of the upkeep of all tenants, passes. Forced, because the program's role mostly owns the tables. A superuser, and
-- a role with BYPASSRLS, passes by every wall: such is Postgres's rule.

create function bound_tenant() returns uuid
language sql stable parallel safe
return nullif(current_setting('inbox_loop.tenant_id', true), '')::uuid;
comment on function bound_tenant() is
    'The tenant that this session is bound to, null for none. Bind one with: '
    'select set_config(''inbox_loop.tenant_id'', (select tenant_id::text from tenants where slug = ''...''), false)';

-- One policy for every table. The sub-select is computed once a statement. coalesce, and not an "or", because the
-- planner then reckons that half of the rows pass, however many tenants there are, and keeps to the index of a page.
do $$
declare
    v_table regclass;
begin
    foreach v_table in array array['tenants', 'task_counters', 'projects', 'tasks', 'task_activity', 'notifications',
                                   'mailboxes', 'mailbox_health', 'messages']::regclass[] loop
        execute format('alter table %s enable row level security', v_table);
        execute format('alter table %s force row level security', v_table);
        execute format('create policy tenant_wall on %s using (coalesce(tenant_id = (select bound_tenant()), true))',
                       v_table);
    end loop;
end
$$;
