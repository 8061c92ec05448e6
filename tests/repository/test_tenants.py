"""Tenants and projects are made once, and a start-up with nothing to make only reads."""

from __future__ import annotations

import pytest

from inbox_loop.errors import InvalidValue
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
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
