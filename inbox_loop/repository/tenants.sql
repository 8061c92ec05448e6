-- name: find_missing
-- purpose: Whether the tenant, its counter, or any of the projects is missing; one row.
-- reads: tenants, task_counters, projects
select not exists (
         select
           from tenants as n
           join task_counters as c on c.tenant_id = n.tenant_id
          where n.slug = %(tenant)s) as tenant,
       exists (
         select
           from unnest(%(projects)s::text[]) as wanted (name)
          where not exists (
                select
                  from tenants as n
                  join projects as p on p.tenant_id = n.tenant_id
                 where n.slug = %(tenant)s and p.name = wanted.name)) as project;

-- name: create_tenant
-- purpose: Make the tenant unless it exists.
-- writes: tenants
insert into tenants (slug) values (%(tenant)s) on conflict (slug) do nothing returning tenant_id;

-- name: create_counter
-- purpose: Give the tenant its counter of task numbers unless it has one.
-- writes: task_counters
insert into task_counters (tenant_id)
select tenant_id from tenants where slug = %(tenant)s
    on conflict (tenant_id) do nothing
returning tenant_id;

-- name: create_projects
-- purpose: Make the projects that do not exist, in one order for all writers.
-- writes: projects
insert into projects (tenant_id, name)
select n.tenant_id, wanted.name
  from tenants as n
 cross join unnest(%(projects)s::text[]) as wanted (name)
 where n.slug = %(tenant)s
 order by wanted.name
    on conflict (tenant_id, name) do nothing
returning name;

-- name: find_tenant
-- purpose: The tenant of this name.
-- reads: tenants
select tenant_id from tenants where slug = %(tenant)s;

-- name: list_tenants
-- purpose: The names of all tenants, in order.
-- reads: tenants
select slug from tenants order by slug;

-- name: find_walls
-- purpose: Whether row-level security holds for the user of this session.
-- reads: none
select not (rolsuper or rolbypassrls) as stand from pg_catalog.pg_roles where rolname = current_user;
