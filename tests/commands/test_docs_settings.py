"""The rendered configuration file and the page of settings hold every setting, and what they say is so."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field
from support.receiver import SECRET

from inbox_loop.commands.configuration import ConfigFile, load_settings
from inbox_loop.commands.docs_config_file import render_config_file
from inbox_loop.commands.docs_setting_facts import SettingFacts, list_sections, to_toml
from inbox_loop.commands.docs_settings_page import render_settings_page
from inbox_loop.commands.setting_keys import EACH, KEYS, Kind
from inbox_loop.settings import Settings

SECTIONS = list_sections()
FACTS = [setting for section in SECTIONS for setting in section.settings]
ALONE = [setting for section in SECTIONS if not section.is_repeated for setting in section.settings]
REQUIRED = {setting.variable: str(setting.example).strip('"') for setting in FACTS if setting.required}
# A URL alone is a mistake: what is posted there is signed.
SIGNED = {"INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": SECRET}


def load(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(ConfigFile(path, "--config"), {})


def without_hashes(text: str) -> str:
    """The file with every setting's line made effective."""
    return re.sub(r"^#(?=[\[a-z])", "", text, flags=re.MULTILINE)


def test_the_file_as_it_is_holds_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, render_config_file(SECTIONS)) == Settings()


def test_the_file_with_all_its_settings_made_effective_holds_the_defaults(tmp_path: Path) -> None:
    text = without_hashes(render_config_file([section for section in SECTIONS if not section.is_repeated]))
    assert re.findall(r"^(\w+) = ", text, re.MULTILINE) == [each.name for each in ALONE if each.default is not None]
    assert load(tmp_path, text) == Settings()


def test_the_example_of_a_mailbox_is_one(tmp_path: Path) -> None:
    (mailbox,) = load(tmp_path, without_hashes(render_config_file(SECTIONS))).mailboxes
    assert mailbox.name == "support"
    assert mailbox.token_file == tmp_path / "support-token.json"
    assert mailbox.model_fields_set - {"name", "token_file"} == {"tenant", "enabled"}


def test_the_example_of_a_rule_is_one(tmp_path: Path) -> None:
    (rule,) = load(tmp_path, without_hashes(render_config_file(SECTIONS))).policy.rules
    assert (rule.name, rule.then) == ("billing", "task")


def test_every_setting_is_there_with_a_meaning_that_is_a_sentence() -> None:
    valued = {key for key, kind in KEYS.items() if kind is not Kind.SECTION and (*key, EACH) not in KEYS}
    assert {setting.key for setting in FACTS} == valued
    for setting in FACTS:
        assert setting.meaning.endswith("."), setting.key
        assert setting.default is not None or setting.example is not None, f"{setting.key} has neither"


@pytest.mark.parametrize("setting", FACTS, ids=lambda each: ".".join(each.key))
def test_every_setting_is_on_the_page_with_a_variable_that_sets_it(setting: SettingFacts) -> None:
    assert f"| `{setting.name}` | `{setting.variable}` |" in render_settings_page(SECTIONS)
    value = str(setting.default or setting.example)
    variables = {"mailboxes": REQUIRED, "policy": REQUIRED, "outbox": SIGNED}.get(setting.key[0], {})
    # The example of a secret can't be used as it stands: it would be everybody's.
    environment = {setting.variable: value.strip('"'), **variables}
    assert isinstance(load_settings(ConfigFile(Path("none.toml"), None), environment), Settings)


class Choice(StrEnum):
    """A setting that takes one of some words."""

    ONE = "one"
    OTHER = "other"


class Limited(BaseModel):
    """Limits of every kind."""

    between: int = Field(default=1, ge=1, le=9)
    within: float = Field(default=1, gt=0, lt=2.5)
    optional: Annotated[int, Field(ge=3)] | None = None
    shaped: str = Field(default="a", pattern="^a$")
    chosen: Choice | None = None
    large: int = Field(default=2**20, ge=2**20)


def test_limits_are_told_in_words_wherever_they_stand() -> None:
    (section,) = list_sections(Limited, ("limited",))
    assert [setting.limits for setting in section.settings] == [
        "at least 1; at most 9",
        "more than 0; less than 2.5",
        "at least 3",
        "matching ^a$",
        'one of "one", "other"',
        "at least 1048576",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (30.0, "30"),
        (0.25, "0.25"),
        ('say "hé"', '"say \\"hé\\""'),
        (timedelta(hours=24), '"24h"'),
        (timedelta(days=14), '"14d"'),
        (timedelta(seconds=90), '"90s"'),
        (timedelta(minutes=30), '"30m"'),
        ((1, "a"), '[1, "a"]'),
        ({"messages.get": 60}, '{"messages.get" = 60}'),
    ],
)
def test_values_are_written_as_toml(value: object, text: str) -> None:
    assert to_toml(value) == text


def test_what_toml_can_not_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no form"):
        to_toml(object())
