"""Configuration: what is read from where, and every mistake told at once under the name its reader knows."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from inbox_loop.commands.configuration import ConfigFile, choose_file, load_settings
from inbox_loop.errors import EXIT_USAGE, ConfigError
from inbox_loop.settings import Settings


def load(tmp_path: Path, text: str = "", **environment: str) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(ConfigFile(file, "--config"), environment)


def problems_of(tmp_path: Path, text: str = "", **environment: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, **environment)
    assert caught.value.exit_code == EXIT_USAGE
    return {problem.key: problem.message for problem in caught.value.problems}


# --- which file -----------------------------------------------------------------------------------------------------


def test_the_option_wins_over_the_variable_and_the_variable_over_the_users_folder() -> None:
    named = {"INBOX_LOOP_CONFIG": "/from/variable.toml"}
    assert choose_file(Path("/from/option.toml"), named) == ConfigFile(Path("/from/option.toml"), "--config")
    assert choose_file(None, named) == ConfigFile(Path("/from/variable.toml"), "INBOX_LOOP_CONFIG")
    assert choose_file(None, {}).path.parts[-2:] == ("inbox-loop", "config.toml")


def test_without_the_users_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(ConfigFile(tmp_path / "none.toml", None), {}) == Settings()


@pytest.mark.parametrize("named_by", ["--config", "INBOX_LOOP_CONFIG"])
def test_a_file_that_was_named_must_be_there(tmp_path: Path, named_by: str) -> None:
    with pytest.raises(ConfigError, match=f"{named_by}: there is no file"):
        load_settings(ConfigFile(tmp_path / "none.toml", named_by), {})


def test_a_folder_is_no_configuration_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--config: can't read .*: Is a directory"):
        load_settings(ConfigFile(tmp_path, "--config"), {})


def test_a_slip_in_the_toml_is_told_with_its_line(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, '[database]\nurl = "embedded"\n[poll\n')
    assert list(problems) == [str(tmp_path / "config.toml")]
    assert "line 3" in problems[str(tmp_path / "config.toml")]


def test_a_file_in_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"[poll]\n# f\xfcr alle\n")
    with pytest.raises(ConfigError, match=r"is not UTF-8 text \(line 2\)"):
        load_settings(ConfigFile(file, "--config"), {})


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xef\xbb\xbf[poll]\ninterval_seconds = 5\n")
    assert load_settings(ConfigFile(file, "--config"), {}).poll.interval_seconds == 5


# --- values ---------------------------------------------------------------------------------------------------------


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        '[database]\nurl = "embedded"\n[gmail]\nmax_in_flight = 2\n',
        INBOX_LOOP_DATABASE__URL="postgresql://localhost/inbox",
        INBOX_LOOP_GMAIL__API_ENDPOINT="http://127.0.0.1:4000",
        INBOX_LOOP_POLL__RECONCILE_EVERY="30m",
        INBOX_LOOP_POLICY__SKIP_BULK="false",
        INBOX_LOOP_POLICY__OWN_ADDRESSES='["loop@example.org"]',
    )
    assert settings.database.url.get_secret_value() == "postgresql://localhost/inbox"
    assert settings.gmail.api_endpoint == "http://127.0.0.1:4000"
    assert settings.gmail.max_in_flight == 2
    assert settings.poll.reconcile_every == timedelta(minutes=30)
    assert settings.policy.skip_bulk is False
    assert settings.policy.own_addresses == ("loop@example.org",)


def test_mailboxes_can_come_from_the_environment_alone_as_json_or_piece_by_piece(tmp_path: Path) -> None:
    as_json = load(tmp_path, INBOX_LOOP_MAILBOXES='[{"name": "support", "token_file": "/t.json"}]')
    by_piece = load(tmp_path, INBOX_LOOP_MAILBOXES__0__NAME="support", INBOX_LOOP_MAILBOXES__0__TOKEN_FILE="/t.json")
    assert as_json == by_piece
    assert [(mailbox.name, mailbox.token_file) for mailbox in by_piece.mailboxes] == [("support", Path("/t.json"))]


def test_a_mailbox_of_the_file_can_be_changed_and_another_added_by_the_environment(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        '[[mailboxes]]\nname = "support"\ntoken_file = "/a.json"\n',
        INBOX_LOOP_MAILBOXES__0__ENABLED="no",
        INBOX_LOOP_MAILBOXES__1__NAME="sales",
        INBOX_LOOP_MAILBOXES__1__TOKEN_FILE="/b.json",
    )
    assert [(mailbox.name, mailbox.enabled) for mailbox in settings.mailboxes] == [("support", False), ("sales", True)]


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert load(tmp_path, INBOX_LOOP_DATABASE__URL="").database.url.get_secret_value() == "embedded"


def test_variables_that_kubernetes_sets_for_a_service_of_our_name_are_left_alone(tmp_path: Path) -> None:
    kubernetes = {
        "INBOX_LOOP_SERVICE_HOST": "10.0.0.1",
        "INBOX_LOOP_SERVICE_PORT": "8787",
        "INBOX_LOOP_PORT": "tcp://10.0.0.1:8787",
        "INBOX_LOOP_PORT_8787_TCP_ADDR": "10.0.0.1",
    }
    assert load(tmp_path, **kubernetes) == Settings()


def test_paths_start_at_the_file_or_at_the_current_folder_or_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", "/home/someone")
    settings = load(
        tmp_path,
        '[database]\ndata_folder = "data"\n[[mailboxes]]\nname = "a"\ntoken_file = "a.json"\n'
        '[[mailboxes]]\nname = "b"\ntoken_file = "~/b.json"\n',
        INBOX_LOOP_MAILBOXES__2__NAME="c",
        INBOX_LOOP_MAILBOXES__2__TOKEN_FILE="c.json",
    )
    assert settings.database.data_folder == tmp_path / "data"
    assert [mailbox.token_file for mailbox in settings.mailboxes] == [
        tmp_path / "a.json",
        Path("/home/someone/b.json"),
        here / "c.json",
    ]


# --- mistakes -------------------------------------------------------------------------------------------------------


def test_all_mistakes_are_told_at_once_by_key(tmp_path: Path) -> None:
    problems = problems_of(
        tmp_path,
        """
        [databse]
        url = "embedded"
        [database]
        url = "mysql://root:hunter2@db/x"
        [gmail]
        api_endpoint = "http://gmail.example"
        units_per_minute = 5
        method_costs = { "message.get" = 60 }
        [poll]
        intervall_seconds = 30
        reconcile_every = "daily"
        [policy]
        own_addresses = ["not an address"]
        [log]
        level = "verbose"
        [[mailboxes]]
        name = "Support!"
        token_file = "a.json"
        [[mailboxes]]
        name = "sales"
        [[mailboxes]]
        name = "sales"
        token_file = "./a.json"
        """,
    )
    assert problems == {
        "databse": "no such setting; did you mean database?",
        "database.url": 'must be "embedded" or a postgresql:// URL',
        "gmail.api_endpoint": "must be an https:// URL; http:// only for a server on this machine",
        "gmail.units_per_minute": "must be greater than or equal to 60",
        'gmail.method_costs."message.get"': "no such Gmail method; did you mean messages.get?",
        "poll.intervall_seconds": "no such setting; did you mean interval_seconds?",
        "poll.reconcile_every": 'must be a number of seconds or a text such as "90s", "30m", "24h", "14d", "2w"',
        "policy.own_addresses[0]": "must be a mail address, name@domain",
        "log.level": "must be 'debug', 'info', 'warning' or 'error'",
        "mailboxes[0].name": "may hold a to z, 0 to 9, _ and - (not at its start), at most 63 characters",
        "mailboxes[1].token_file": "is missing",
        "mailboxes[2].name": "is the same as mailboxes[1].name",
        "mailboxes[2].token_file": "is the same as mailboxes[0].token_file",
    }


@pytest.mark.parametrize(
    ("variable", "value", "key", "words"),
    [
        ("INBOX_LOOP_LOG__LEVEL", "loud", "INBOX_LOOP_LOG__LEVEL", "'info'"),
        (
            "INBOX_LOOP_RETENTION__DELETED_AFTER",
            "9" * 20 + "d",
            "INBOX_LOOP_RETENTION__DELETED_AFTER",
            "at most 36500d",
        ),
        ("INBOX_LOOP_RETENTION__DELETED_AFTER", "0s", "INBOX_LOOP_RETENTION__DELETED_AFTER", "more than 0"),
        ("INBOX_LOOP_DATABASE_URL", "x", "INBOX_LOOP_DATABASE_URL", "did you mean INBOX_LOOP_DATABASE__URL?"),
        ("INBOX_LOOP_DATABSE__URL", "x", "INBOX_LOOP_DATABSE__URL", "did you mean INBOX_LOOP_DATABASE__URL?"),
        ("INBOX_LOOP_NOTHING__LIKE_IT", "x", "INBOX_LOOP_NOTHING__LIKE_IT", "no such setting"),
        ("INBOX_LOOP_DATABASE", "x", "INBOX_LOOP_DATABASE", "is a section"),
        ("INBOX_LOOP_MAILBOXES", "[{", "INBOX_LOOP_MAILBOXES", "is not valid JSON"),
        ("INBOX_LOOP_MAILBOXES", '[{"name": "a"}]', "INBOX_LOOP_MAILBOXES[0].token_file", "is missing"),
        ("INBOX_LOOP_MAILBOXES", '{"name": "a"}', "INBOX_LOOP_MAILBOXES", "must be a list"),
        ("INBOX_LOOP_MAILBOXES__3__NAME", "a", "INBOX_LOOP_MAILBOXES__3__NAME", "the next free number is 0"),
        ("INBOX_LOOP_MAILBOXES__0__TOKEN", "a", "INBOX_LOOP_MAILBOXES__0__TOKEN", "MAILBOXES__0__TOKEN_FILE"),
        ("INBOX_LOOP_MAILBOXES__0__NAME", "a", "mailboxes[0].token_file", "is missing"),
    ],
)
def test_a_mistake_in_a_variable_is_told_by_the_variables_name(
    tmp_path: Path, variable: str, value: str, key: str, words: str
) -> None:
    problems = problems_of(tmp_path, **{variable: value})
    assert words in problems[key]


@pytest.mark.parametrize(
    "text",
    [
        "database = 3",
        "mailboxes = 3",
        "mailboxes = [3]",
        "policy = []",
        "[gmail]\nmethod_costs = []",
        "poll.interval_seconds = []",
    ],
)
def test_a_value_of_any_other_shape_is_a_problem_and_not_a_crash(tmp_path: Path, text: str) -> None:
    assert len(problems_of(tmp_path, text)) == 1


def test_a_variable_inside_a_setting_that_is_no_table_is_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, "database = 3", INBOX_LOOP_DATABASE__URL="embedded")
    assert problems["INBOX_LOOP_DATABASE__URL"] == "database is not a table or list"


def test_no_value_is_ever_shown(tmp_path: Path) -> None:
    """A password, an address or a token that was put in the wrong place must not reach a terminal or a log."""
    secret = "hunter2"
    text = f"""
    {secret}x = "{secret}"
    [database]
    url = "mysql://{secret}"
    data_folder = ["{secret}"]
    [gmail]
    api_endpoint = "{secret}"
    units_per_minute = "{secret}"
    [poll]
    reconcile_every = "{secret}"
    [policy]
    own_addresses = ["{secret}"]
    skip_bulk = "{secret}"
    [log]
    level = "{secret}"
    """
    problems = problems_of(
        tmp_path, text, INBOX_LOOP_MAILBOXES=f'[{{"name": "{secret}!", "address": "{secret}"}}, "{secret}"]'
    )
    assert secret not in " ".join(problems.values())
    assert len(problems) == 13


def test_http_is_accepted_on_this_machine_alone(tmp_path: Path) -> None:
    for url in ("http://127.0.0.1:1", "http://localhost:9", "http://[::1]:9", "https://gmail.googleapis.com"):
        assert load(tmp_path, INBOX_LOOP_GMAIL__API_ENDPOINT=url).gmail.api_endpoint == url
    for url in ("http://10.0.0.1", "ftp://localhost", "https://", "localhost:80", "http://localhost:x"):
        assert list(problems_of(tmp_path, INBOX_LOOP_GMAIL__API_ENDPOINT=url)) == ["INBOX_LOOP_GMAIL__API_ENDPOINT"]
