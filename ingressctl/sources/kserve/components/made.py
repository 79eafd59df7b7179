"""What the components phase has made so far: a draft inside one reconcile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.outcome import Child, Event, Fault, Finding

SERVICE = ("", "Service")


@dataclass(slots=True)
class Made:
    """Objects and everything that is to be said of them.

    `labels` are those that the runtime adds to every route; `kept` are names whose objects
    stay although nobody wants them now; `stopped` objects go. `writes_status` is False where
    the reference ends before it writes one, `again` seconds until another look then.
    """

    children: list[Child] = field(default_factory=list)
    gone: tuple[Ref, ...] = ()
    kept: set[str] = field(default_factory=set)
    stopped: list[Ref] = field(default_factory=list)
    labels: Mapping[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    faults: tuple[Fault, ...] = ()
    writes_status: bool = True
    again: float | None = None

    def add(
        self, body: Raw, ref: Ref, *after: Ref, assumed: Mapping[str, Any] | None = None
    ) -> None:
        """One more object of the workloads."""
        self.children.append(Child(ref, body, "workloads", after, assumed))

    def services(self) -> tuple[tuple[Ref, Raw], ...]:
        """The component Services among the objects."""
        return tuple((child.ref, child.body) for child in self.children if child.ref[:2] == SERVICE)
