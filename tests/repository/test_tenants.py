"""Tenants and projects are made once, and a start-up with nothing to make only reads."""

from __future__ import annotations

import pytest

from inbox_loop.errors import InvalidValue, NoSuchTenant
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import check_tenant, ensure_tenant
from inbox_loop.task import TaskDraft, UpsertOutcome


def test_a_tenant_that_was_made_can_be_given_tasks_in_its_projects(database: Database) -> None:
    ensure_tenant(database, "acme", ["inbox", "billing", "inbox"])
    draft = TaskDraft("gmail:1#2", "A title", project="billing")
    assert TaskStore(database, tenant="acme").upsert_task(draft, actor="test").outcome is UpsertOutcome.CREATED


def test_missing_projects_are_added_to_a_tenant_that_exists(database: Database) -> None:
    ensure_tenant(database, "acme", [])
    ensure_tenant(database, "acme", ["late"])
    draft = TaskDraft("gmail:1#2", "A title", project="late")
    assert TaskStore(database, tenant="acme").upsert_task(draft, actor="test").number == 1


@pytest.mark.parametrize(("slug", "projects"), [("Upper", []), ("", []), ("fine", ["with space"]), ("fine", [""])])
def test_a_name_that_is_none_is_refused(database: Database, slug: str, projects: list[str]) -> None:
    with pytest.raises(InvalidValue, match="is 1 to 63 lower-case letters"):
        ensure_tenant(database, slug, projects)


def test_a_tenant_that_exists_passes_the_check(database: Database) -> None:
    ensure_tenant(database, "acme", [])
    check_tenant(database, "acme")


@pytest.mark.parametrize(
    ("slug", "hint"),
    [
        ("amce", "Did you mean acme?"),
        ("ACME", "Check mailboxes.tenant or --tenant."),
        ("zebra", "Check mailboxes.tenant or --tenant."),
    ],
)
def test_an_unknown_tenant_is_told_with_the_nearest_one(database: Database, slug: str, hint: str) -> None:
    for known in ("acme", "other"):
        ensure_tenant(database, known, [])
    with pytest.raises(NoSuchTenant, match=f"^the database has no tenant '{slug}'$") as raised:
        check_tenant(database, slug)
    assert raised.value.hint == hint


def test_a_check_makes_no_tenant(database: Database) -> None:
    with pytest.raises(NoSuchTenant):
        check_tenant(database, "acme")
    assert database.rows(b"select from tenants") == []
