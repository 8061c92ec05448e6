-- name: record_heartbeat
-- purpose: Note what a daemon says of a mailbox; the last good poll stays when it names none, and never goes back.
-- writes: mailbox_health
insert into mailbox_health as h (tenant_id, mailbox, daemon, last_good_poll_at, last_error)
select tenant_id, %(mailbox)s, %(daemon)s, %(last_good_poll_at)s, %(last_error)s
  from tenants
 where slug = %(tenant)s
    on conflict (tenant_id, mailbox) do update
   set daemon = excluded.daemon, beat_at = now(), last_error = excluded.last_error,
       last_good_poll_at = greatest(h.last_good_poll_at, excluded.last_good_poll_at)
returning mailbox;

-- name: list_mailbox_health
-- purpose: Every mailbox of the tenant that has a row or a heartbeat, with its messages counted by state.
-- reads: tenants, mailboxes, mailbox_health, messages
with mailbox as (
    select n.tenant_id, b.mailbox_id, b.name, b.cursor, b.cursor_moved_at
      from tenants as n
      join mailboxes as b on b.tenant_id = n.tenant_id
     where n.slug = %(tenant)s
), beat as (
    select h.mailbox as name, h.last_good_poll_at, h.beat_at, h.last_error
      from tenants as n
      join mailbox_health as h on h.tenant_id = n.tenant_id
     where n.slug = %(tenant)s
), counted as (
    select counts.mailbox_id, jsonb_object_agg(counts.state, counts.messages) as by_state
      from (select m.mailbox_id, m.state, count(*) as messages
              from mailbox
              join messages as m on m.tenant_id = mailbox.tenant_id and m.mailbox_id = mailbox.mailbox_id
             group by m.mailbox_id, m.state) as counts
     group by counts.mailbox_id
)
select name, mailbox.cursor, mailbox.cursor_moved_at, beat.last_good_poll_at, beat.beat_at, beat.last_error,
       coalesce(counted.by_state, '{}') as by_state
  from mailbox
  full join beat using (name)
  left join counted on counted.mailbox_id = mailbox.mailbox_id
 order by name;
