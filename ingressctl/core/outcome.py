"""All that may leave a reconcile: one value, nothing on the side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import Route
from ingressctl.core.values import Value

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object was written: a file and the line it starts at (1-based)."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a person should know. `code` is a row of core.findings.

    `refs` are the objects it is about, the first one foremost; `path` the field;
    `args` fill the row's template; `difference` the id that made or would unmake it.
    """

    code: str
    refs: tuple[Ref, ...]
    path: str = ""
    args: tuple[tuple[str, Any], ...] = ()
    origin: Origin | None = None
    difference: str = ""

    @staticmethod
    def of(code: str, *refs: Ref, path: str = "", difference: str = "", **args: object) -> Finding:
        """A finding with named arguments for its template."""
        return Finding(code, refs, path, tuple(sorted(args.items())), None, difference)


class Child(Value, frozen=True):
    """An object to write, and what must exist before it.

    `assumed` is the status that it is taken to get where readiness is assumed: the object
    then counts as written, whoever writes it.
    """

    ref: Ref
    body: Raw
    part: Literal["routes", "workloads"]
    after: tuple[Ref, ...] = ()
    assumed: Mapping[str, Any] | None = None


class Event(Value, frozen=True):
    """A Kubernetes event on the reconciled object."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a reconcile did not come to its end: the text users and cases look for."""

    message: str
    where: Literal["config", "admission", "components", "routes"]
    path: str = ""


class Keep(Value, frozen=True):
    """What must not be pruned although it is not among the wanted objects.

    `everything` holds after an error; `names` lists object names of the owner whose
    components are not ready yet, so that what serves them stays as it is. Of an owner that
    asked to be `hidden` nothing stays that shows it outside.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    hidden: bool = False

    @property
    def holds_any(self) -> bool:
        """Whether something may have to stay, so that not all that is wanted is known."""
        return self.everything or bool(self.names)

    def holds(self, ref: Ref) -> bool:
        """Whether an owned object of that identity stays untouched."""
        return self.everything or ref.name in self.names


class Outcome(Value, frozen=True):
    """The result of one reconcile.

    `children` are workloads and other objects besides routes, `gone` objects to delete,
    `status` the whole new status (None: leave it), `again` seconds until another look.
    `answers_for` is the condition that turns False when an object cannot be written,
    because somebody else's stands in its place.
    """

    children: tuple[Child, ...] = ()
    gone: tuple[Ref, ...] = ()
    routes: tuple[Route, ...] = ()
    provider: str = ""
    status: Mapping[str, Any] | None = None
    events: tuple[Event, ...] = ()
    findings: tuple[Finding, ...] = ()
    faults: tuple[Fault, ...] = ()
    again: float | None = None
    keep: Keep = Keep()
    answers_for: str = ""
