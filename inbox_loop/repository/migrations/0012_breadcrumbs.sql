-- What decided about a message, and who sent it: for those who ask why, and for the cap on a sender's tasks.

alter table messages
    add column rule     text,
    add column sender   text,
    add column insisted boolean not null default false,
    add constraint messages_rule_ck check (char_length(rule) between 1 and 63),
    add constraint messages_sender_ck check (char_length(sender) between 1 and 320);
comment on column messages.rule is 'The name of the rule that decided; null when none matched.';
comment on column messages.sender is 'The sender''s address in lower case, as its mail claims; null when there is none.';
comment on column messages.insisted is 'A person wants a task of this message, whatever the policy says.';

create index messages_sender_ix on messages (tenant_id, mailbox_id, sender, internal_date)
    where state = 'task' and sender is not null;
