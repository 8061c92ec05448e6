"""Rules in the configuration: how they are written, and how a bad one is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.message import MakeMessage

from inbox_loop.commands.configuration import ConfigFile, load_settings
from inbox_loop.commands.policy_reading import read_policy
from inbox_loop.commands.rule_lines import MAX_HEADERS, find_rule_lines
from inbox_loop.errors import ConfigError
from inbox_loop.message.model import Attachment
from inbox_loop.rules import Priority, Verdict, find_rule
from inbox_loop.settings import Settings


def load(tmp_path: Path, text: str = "", **environment: str) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(ConfigFile(file, "--config"), environment)


def problems_of(tmp_path: Path, text: str = "", **environment: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, **environment)
    return {problem.key: problem.message for problem in caught.value.problems}


# --- values ---------------------------------------------------------------------------------------------------------


def test_every_key_of_a_rule_reaches_the_policy(tmp_path: Path, make_message: MakeMessage) -> None:
    """Each condition is one that the message fits; with any of them changed, the rule does not fit."""
    conditions = {
        "from": ('"@example.com"', '"@example.net"'),
        "to": ('["x@example.com", "support@example.org"]', '"x@example.com"'),
        "subject": ('"*TIN"', '"tin"'),
        "list": ('"talk.*"', '"other.*"'),
        "label": ('"Label_7"', '"Label_8"'),
        "has_attachment": ("true", "false"),
        "larger_than": ('"1K"', '"2K"'),
        "smaller_than": ('"2K"', "1024"),
    }
    message = make_message(
        headers=[("List-Id", "<talk.example.net>")],
        labels=("INBOX", "Label_7"),
        attachments=(Attachment("a.pdf", "application/pdf", 7),),
    )

    def fits(values: dict[str, str]) -> bool:
        lines = [f"{key} = {value}" for key, value in values.items()]
        text = "\n".join(['[[policy.rules]]\nname = "r"\nthen = "task"', *lines])
        return find_rule(message, read_policy(load(tmp_path, text).policy).rules) is not None

    fitting = {key: right for key, (right, _) in conditions.items()}
    assert fits(fitting)
    for key, (_, wrong) in conditions.items():
        assert not fits(fitting | {key: wrong}), key


def test_rules_keep_their_order_and_what_they_give(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        [[policy.rules]]
        name = "first"
        from = "@example.com"
        then = "task"
        project = "sales"
        labels = ["vip", "Große Kunden"]
        priority = "urgent"
        [[policy.rules]]
        name = "rest"
        then = "skip"
        """,
    )
    first, rest = read_policy(settings.policy).rules
    assert (first.name, first.verdict, first.project) == ("first", Verdict.TASK, "sales")
    assert (first.labels, first.priority) == (("vip", "Große Kunden"), Priority.URGENT)
    assert (rest.name, rest.verdict, rest.project, rest.labels, rest.priority) == ("rest", Verdict.SKIP, None, (), None)


@pytest.mark.parametrize(
    ("text", "size"), [("7", 7), ('"7"', 7), ('"500K"', 512_000), ('"10M"', 10_485_760), ('" 1 m "', 1_048_576)]
)
def test_sizes_are_bytes_or_as_in_a_search_of_gmail(tmp_path: Path, text: str, size: int) -> None:
    (rule,) = load(tmp_path, f'[[policy.rules]]\nname = "r"\nthen = "skip"\nlarger_than = {text}\n').policy.rules
    assert rule.larger_than == size


def test_rules_can_come_from_the_environment(tmp_path: Path) -> None:
    as_json = load(tmp_path, INBOX_LOOP_POLICY__RULES='[{"name": "r", "then": "skip", "from": "@example.net"}]')
    by_piece = load(
        tmp_path,
        INBOX_LOOP_POLICY__RULES__0__NAME="r",
        INBOX_LOOP_POLICY__RULES__0__THEN="skip",
        INBOX_LOOP_POLICY__RULES__0__FROM='["@example.net"]',
    )
    assert as_json == by_piece
    assert by_piece.policy.rules[0].senders == ("@example.net",)


# --- mistakes -------------------------------------------------------------------------------------------------------

BAD = """[poll]
interval_seconds = 30

[[policy.rules]]
name = "good"
from = "@example.com"
then = "task"

[[policy.rules]]   # a remark
name = "good"
from = "example.com"
then = "perhaps"

[[policy.rules]]
name = "Bad Name"
frm = "@example.com"
subject = []
then = "skip"
project = "bills"

[[policy.rules]]
from = 3
has_attachment = "sometimes"
larger_than = "10 parsecs"
then = "task"
labels = ["a\\u0007b"]
priority = "asap"
"""


def test_every_mistake_in_a_rule_is_told_with_its_name_or_number_and_its_line(tmp_path: Path) -> None:
    assert problems_of(tmp_path, BAD) == {
        "policy.rules[1].then": "must be 'task' or 'skip' (rule good, line 9)",
        "policy.rules[1].name": "is the same as policy.rules[0].name (rule good, line 9)",
        "policy.rules[1].from": 'must be name@domain, "@domain", or a pattern with * (rule good, line 9)',
        "policy.rules[2].name": "may hold a to z, 0 to 9, _ and - (not at its start), at most 63 characters "
        "(rule number 3, line 14)",
        "policy.rules[2].frm": "no such setting; did you mean from? (rule number 3, line 14)",
        "policy.rules[2].subject": "must not be empty (rule number 3, line 14)",
        "policy.rules[2].project": "means nothing in a rule that skips (rule number 3, line 14)",
        "policy.rules[3].name": "is missing (rule number 4, line 21)",
        "policy.rules[3].from": "must be a list (rule number 4, line 21)",
        "policy.rules[3].has_attachment": "must be a valid boolean, unable to interpret input (rule number 4, line 21)",
        "policy.rules[3].larger_than": 'must be a number of bytes or a text such as "500K" or "10M" '
        "(rule number 4, line 21)",
        "policy.rules[3].labels": "must hold printable characters alone (rule number 4, line 21)",
        "policy.rules[3].priority": "must be 'low', 'normal', 'high' or 'urgent' (rule number 4, line 21)",
    }


def test_a_rule_without_a_condition_must_be_the_last(tmp_path: Path) -> None:
    fits_all = '[[policy.rules]]\nname = "all"\nthen = "skip"\n'
    other = '[[policy.rules]]\nname = "other"\nthen = "task"\nfrom = "@example.com"\n'
    assert len(load(tmp_path, other + fits_all).policy.rules) == 2
    assert problems_of(tmp_path, fits_all + other) == {
        "policy.rules[0]": "has no condition and fits every message, so it must be the last rule (rule all, line 1)"
    }


@pytest.mark.parametrize(
    "text",
    ["policy.rules = 3", "policy.rules = [3]", "policy = 3", 'policy.rules = {name = "a"}', "policy.rules = [[]]"],
)
def test_rules_of_any_other_shape_are_a_problem_and_not_a_crash(tmp_path: Path, text: str) -> None:
    assert len(problems_of(tmp_path, text)) == 1


def test_a_bad_rule_of_the_environment_has_no_line(tmp_path: Path) -> None:
    problems = problems_of(
        tmp_path,
        '[[policy.rules]]\nname = "of-file"\nthen = "skip"\n',
        INBOX_LOOP_POLICY__RULES='[{"name": "r", "then": "no"}]',
    )
    assert problems == {"INBOX_LOOP_POLICY__RULES[0].then": "must be 'task' or 'skip' (rule r)"}


def test_no_value_of_a_rule_is_shown(tmp_path: Path) -> None:
    secret = "hunter2!"
    keys = ("name", "from", "to", "subject", "list", "label", "project", "priority", "then", "larger_than")
    text = "[[policy.rules]]\n" + "".join(f'{key} = "{secret}"\n' for key in keys)
    problems = problems_of(tmp_path, text)
    assert len(problems) == 7
    assert secret not in str(problems)


# --- lines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", (), id="none"),
        pytest.param("[policy]\nskip_bulk = true\n", (), id="no rules"),
        pytest.param("\n[[policy.rules]]\na = 1\n[[ policy . rules ]]\n", (2, 4), id="headers"),
        pytest.param("[[\"policy\".'rules']]\n", (1,), id="quoted"),
        pytest.param("[[policy.rules]]\r\na = 1\r\n\r\n[[policy.rules]]\r\n", (1, 4), id="line ends of Windows"),
        pytest.param("[[mailboxes]]\n[[policy.rules]]\n[[mailboxes]]\n[[policy.rules]]\n", (2, 4), id="between others"),
        pytest.param("# [[policy.rules]]\n[[policy.rules]]\n", (2,), id="a remark is none"),
        pytest.param("x = '''\n[[policy.rules]]\n'''\n[[policy.rules]]\n", (4,), id="a text of many lines is none"),
        pytest.param("[policy.rules_of_old]\n[[policy.rules]]\n", (2,), id="another key is none"),
        pytest.param("[policy]\n\nrules = [\n  {a = 1},\n  {a = 2},\n]\n", (3, 3), id="a list"),
        pytest.param("x = 1\npolicy.rules = [{a = 1}]\n", (2,), id="a dotted key"),
        pytest.param("policy = {rules = [{a = 1}]}\n", (1,), id="an inline table"),
        pytest.param("x = '''\nrules = 1\n'''\n[policy]\nrules = [{a = 1}]\n", (5,), id="a list after a text"),
    ],
)
def test_each_rule_is_found_at_its_line(text: str, lines: tuple[int, ...]) -> None:
    assert find_rule_lines(text) == lines


def test_past_so_many_rules_no_more_lines_are_found() -> None:
    assert find_rule_lines("[[policy.rules]]\n" * (MAX_HEADERS + 5)) == tuple(range(1, MAX_HEADERS + 1))
