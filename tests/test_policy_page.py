"""What docs/policy.md says of rules is so: its examples load, its table holds, and it names all there is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from fixtures.message import MakeMessage

from inbox_loop.commands.configuration import ConfigFile, load_settings
from inbox_loop.commands.policy_reading import read_policy
from inbox_loop.message.model import Attachment
from inbox_loop.policy import Policy, Skip, SkipReason, decide
from inbox_loop.rules import MAX_ADDRESSES, MAX_TEXT_CHARACTERS, Priority
from inbox_loop.settings import RuleSettings

PAGE = (Path(__file__).parent.parent / "docs" / "policy.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# Decided where only the store can: not by the policy alone, and not by a poll.
OF_THE_STORE = {SkipReason.OUTSIDE_RANGE}


def rows_below(head: str) -> list[list[str]]:
    """The cells of the table whose first line begins with ``head``."""
    table = PAGE[PAGE.index(f"| {head} |") :].partition("\n\n")[0]
    return [[cell.strip().strip("`") for cell in line.strip("| ").split(" |")] for line in table.splitlines()[2:]]


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """The policy of the page's example."""
    file = tmp_path / "config.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    return read_policy(load_settings(ConfigFile(file, "--config"), {}).policy)


@pytest.mark.parametrize("row", rows_below("From"), ids=" ".join)
def test_each_message_of_the_page_becomes_what_the_page_says(
    policy: Policy, make_message: MakeMessage, row: list[str]
) -> None:
    sender, to, subject, list_id, attachment, size, becomes = row
    message = make_message(
        headers=[("From", sender), ("To", to), ("Subject", subject), ("List-Id", list_id)],
        attachments=(Attachment("a.pdf", "application/pdf", 7),) if attachment == "yes" else (),
    )
    decision = decide(
        replace(message, size=int(size)), policy, mailbox="support", account="support@example.com", project=None
    )
    verdict = "skip" if isinstance(decision, Skip) else "task"
    if decision.rule is not None:
        assert becomes == f"{verdict} by {decision.rule}"
    elif isinstance(decision, Skip):
        assert becomes == f"skip, {decision.reason}"
    else:
        assert becomes == "task"


def test_the_page_shows_each_rule_of_its_example_at_work(policy: Policy) -> None:
    outcomes = " ".join(row[-1] for row in rows_below("From"))
    assert all(f"by {rule.name}" in outcomes for rule in policy.rules)


def test_the_page_names_every_key_reason_priority_and_limit() -> None:
    keys = {field.alias or name for name, field in RuleSettings.model_fields.items()}
    reasons = {reason.value for reason in SkipReason} - OF_THE_STORE
    words = keys | reasons | {priority.value for priority in Priority}
    assert {word for word in words if f"`{word}`" not in PAGE} == set()
    assert f"first {MAX_ADDRESSES}" in PAGE
    assert f"first {MAX_TEXT_CHARACTERS} characters" in PAGE
