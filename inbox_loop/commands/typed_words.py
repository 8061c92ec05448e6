"""The words that were typed after a command are text: UTF-8, or the name of a file.

Lives here: looking at them before the command runs, while the option's name is still known. Not here: what may stand in
a field, which the store checks (``repository/clean.py``).
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from inbox_loop.errors import InvalidValue


class Command(TyperCommand):
    """A sub-command that runs only when its options and arguments are text."""

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401 - typer does not make its type of a context public
        """Run it; raises ``InvalidValue`` instead, with the name of the first one that is not UTF-8."""
        for each in self.params:
            if not _is_text(ctx.params.get(each.name or "")):
                raise InvalidValue(
                    f"{name_of(each)}: what was typed is not UTF-8",
                    hint="Set the terminal to UTF-8, or convert what is handed over.",
                )
        return super().invoke(ctx)


def name_of(parameter: Any) -> str:  # noqa: ANN401 - nor its type of a parameter
    """An option or an argument as it is written on the command line."""
    hint: str = parameter.get_error_hint()
    return hint.strip("'")


def _is_text(value: object) -> bool:
    """Whether it has a form in UTF-8. Bytes that have none come from the system as lone surrogates."""
    match value:
        case list():
            return all(_is_text(each) for each in value)
        case str():
            return value.isascii() or value.encode(errors="replace").decode() == value
        case _:
            return True
