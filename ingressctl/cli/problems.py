"""What ends a command early: sentences for people, and the exit codes of every command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SAME, DIFFERS, FAULT, NOT_READY = 0, 1, 2, 3
"""Nothing to change; differences or findings; any fault; waited in vain."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence of cause and one of remedy. `where` is ``file:line`` or ""."""

    cause: str
    remedy: str
    where: str = ""


class CommandFault(Exception):
    """The command cannot do what it was asked; `problems` tell every reason. Exit code 2."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.cause for problem in self.problems))

    @staticmethod
    def of(cause: str, remedy: str, where: str = "") -> CommandFault:
        """A fault with one reason."""
        return CommandFault([Problem(cause, remedy, where)])
