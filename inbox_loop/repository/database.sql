-- name: start_read_only
-- purpose: Make the transaction that was just begun refuse every write.
-- reads: none
set transaction read only;

-- name: find_server
-- purpose: The server's version and the database's encoding, before anything is asked of them.
-- reads: none
select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding;

-- name: find_tenant_id
-- purpose: The id of the tenant of this name.
-- reads: tenants
select tenant_id from tenants where slug = %(tenant)s;
