"""What a provider is, and what comes back when its objects are read again.

A provider is one object with five pure functions, found through the entry-point group
``ingressctl.providers``. `explain` evaluates only what `read` made from emitted objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, get_args

from ingressctl.api.refs import Owner, Raw, Ref
from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Table
from ingressctl.core.values import Value
from ingressctl.core.world import Kind, Reads

Capability = Literal[
    "header-match",
    "method-match",
    "exact-path",
    "regex-path",
    "weights",
    "set-headers",
    "host-rewrite",
    "path-rewrite",
    "regex-rewrite",
    "timeout",
    "retries-off",
    "wildcard-host",
    "mesh",
    "local-entry",
    "external-target",
    "split-headers",
    "grpc",
]

EVERYTHING: frozenset[Capability] = frozenset(get_args(Capability))
"""All capabilities; a provider takes out what it lacks."""


class Emission(Value, frozen=True):
    """What one owner's routes become.

    `objects` are full Kubernetes objects with owner references; a provider without
    objects (envoy) carries its parts in `routes`. `findings` tell every loss.
    """

    owner: Owner
    objects: tuple[Raw, ...] = ()
    routes: tuple[Route, ...] = ()
    findings: tuple[Finding, ...] = ()


class Verdict(Value, frozen=True):
    """Whether the emitted objects serve. `None` in `ready` means cannot tell."""

    ready: bool | None
    reason: str = ""
    message: str = ""
    again: float | None = None


def nothing() -> Emission:
    """The emission of no routes."""
    return Emission(Owner(Ref("", "", "", ""), "", ""))


def side_by_side(emissions: Iterable[Emission]) -> Emission:
    """Emissions that share nothing: all parts in their order."""
    parts = tuple(emissions)
    return Emission(
        parts[0].owner if parts else nothing().owner,
        tuple(obj for part in parts for obj in part.objects),
        tuple(route for part in parts for route in part.routes),
        tuple(finding for part in parts for finding in part.findings),
    )


class Provider(Protocol):
    """One way to program a gateway."""

    name: str
    kinds: tuple[Kind, ...]
    capabilities: frozenset[Capability]

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """The objects of one owner's routes, and what they cannot express."""
        ...

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """One emission of all owners; what they share is combined here."""
        ...

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """A table of these objects, ours or somebody else's."""
        ...

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """Whether the gateway says that it serves the object made from `route`."""
        ...
