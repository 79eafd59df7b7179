"""Which gateway can be asked whether it follows the routes of an owner, and for which host.

Only hosts that outside may use are asked for, and only at public gateways that somebody named:
a private name never goes there. A host that several owners share is left out: it answers for
another one already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import Group
from ingressctl.core.values import Value
from ingressctl.core.world import World
from ingressctl.plan.cascade import Step

GATEWAY = ("gateway.networking.k8s.io", "Gateway")


class Question(Value, frozen=True):
    """Whether a gateway, which listens at `address` (HOST:PORT), knows a host."""

    gateway: str
    address: str
    host: str

    def __str__(self) -> str:
        return f"gateway {self.gateway} ({self.address}), asked for {self.host},"


class Answer(Value, frozen=True):
    """What came back. `follows` None: nothing did, so nothing is known."""

    text: str
    follows: bool | None = None


def questions(step: Step, world: World, probes: Mapping[str, str]) -> tuple[Question, ...]:
    """What to ask about the routes of a step, at the gateways of `probes`.

    Those are addresses by ``namespace/name``; "" means the one in the Gateway's status.
    """
    groups = (group for route in step.outcome.routes for group in route.groups)
    return tuple(dict.fromkeys(asked for group in groups for asked in _of(group, world, probes)))


def _of(group: Group, world: World, probes: Mapping[str, str]) -> Iterator[Question]:
    for entry in group.entries:
        if entry.kind != "gateway" or entry.reach != "public" or entry.name not in probes:
            continue
        address = probes[entry.name] or _address(entry.name, world)
        for host in group.hosts:
            own = (host.kind, host.reach) == ("exact", "public") and host.origin != "shared"
            if own and address:
                yield Question(entry.name, address, host.name)


def _address(gateway: str, world: World) -> str:
    """Where the Gateway's status says that its first plain listener is; "" if it does not."""
    namespace, _, name = gateway.partition("/")
    obj: Raw = world.get(Ref(*GATEWAY, namespace, name)) or {}
    given: list[Any] = (obj.get("status") or {}).get("addresses") or []
    listeners: list[Any] = (obj.get("spec") or {}).get("listeners") or []
    port = next((item.get("port") for item in listeners if item.get("protocol") == "HTTP"), None)
    value = str(given[0].get("value") or "") if given else ""
    if not (port and value):
        return ""
    return f"[{value}]:{port}" if ":" in value else f"{value}:{port}"


def judged(question: Question, status: int, *, by_model: bool) -> Answer:
    """What a status tells; `by_model` when somebody behind the gateway answered.

    A gateway that knows no such host says 404 itself, one that knows no pods yet 503.
    """
    follows = by_model or status not in (404, 503)
    return Answer(f"{question} answered {status}", follows)


def unanswered(question: Question, fault: str) -> Answer:
    """Nobody answered."""
    return Answer(f"{question} gave no answer: {fault}")
