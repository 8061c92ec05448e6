"""Every decision leaves a breadcrumb: the rule that decided is in the ledger and in the log, the sender in no log."""

from __future__ import annotations

from dataclasses import replace

from structlog.testing import capture_logs
from support.desk import Desk, plain_mail

from inbox_loop.globs import compile_address_glob, compile_glob
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.reread import RereadRequest, reread_once
from inbox_loop.policy import SkipReason
from inbox_loop.rules import Conditions, Rule, Verdict

ORDERS = Rule("orders", Verdict.TASK, Conditions(subjects=(compile_glob("order*"),)), labels=("order",))
SHOP = Rule("no-shop", Verdict.SKIP, Conditions(senders=(compile_address_glob("@shop.example.org"),)))


def with_rules(desk: Desk, *rules: Rule) -> Desk:
    policy = replace(desk.mailbox.policy, rules=rules)
    return replace(desk, mailbox=replace(desk.mailbox, policy=policy))


def test_the_rule_that_decided_is_kept_for_tasks_and_for_skipped_messages(desk: Desk) -> None:
    desk = with_rules(desk, ORDERS, SHOP)
    mails = {
        "orders": plain_mail("Order 7", sender="sales@shop.example.org"),
        "no-shop": plain_mail("Sale!", sender="sales@shop.example.org"),
        None: plain_mail("Hello"),
    }
    arrived = {rule: desk.account.deliver(raw).message_id for rule, raw in mails.items()}
    desk.poll()
    rows = desk.ledger()
    assert {rule: rows[message_id].rule for rule, message_id in arrived.items()} == {rule: rule for rule in mails}
    skipped = rows[arrived["no-shop"]]
    assert (skipped.state, skipped.reason) == (MessageState.SKIPPED, SkipReason.RULE)


def test_the_log_names_the_rule_and_never_the_sender(desk: Desk) -> None:
    desk = with_rules(desk, SHOP)
    desk.account.deliver(plain_mail("Sale!", sender="sales@shop.example.org"))
    bulk = plain_mail("News", sender="news@example.org").replace(b"Subject:", b"Precedence: bulk\nSubject:", 1)
    desk.account.deliver(bulk)
    with capture_logs() as logs:
        desk.poll()
    skipped = [entry for entry in logs if entry["event"] == "message.skipped"]
    assert [(entry["reason"], entry.get("rule")) for entry in skipped] == [("rule", "no-shop"), ("bulk", None)]
    assert "example.org" not in repr(logs)


def test_a_person_s_task_has_what_the_first_rule_for_tasks_says(desk: Desk) -> None:
    desk = with_rules(desk, SHOP, ORDERS)
    delivered = desk.account.deliver(plain_mail("Order 7", sender="sales@shop.example.org"))
    assert desk.poll().skipped == 1
    reread_once(desk.mailbox, RereadRequest((delivered.message_id,), insisted=True))
    (task,) = desk.all_tasks()
    assert task.labels == ("order",)
    assert desk.ledger()[delivered.message_id].rule == "orders"
