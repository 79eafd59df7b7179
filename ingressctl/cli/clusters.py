"""A cluster as base: its objects, read once by kubeconfig."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingressctl.api import shapes
from ingressctl.api.refs import Raw
from ingressctl.cli import options
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault
from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, World
from ingressctl.plan import kindnames, kinds
from ingressctl.plan.manifests import Note

if TYPE_CHECKING:
    from ingressctl.cluster.connection import Choice
    from ingressctl.cluster.readonly import Question, Refused

NOT_ASKED = frozenset({"EndpointSlice", "HorizontalPodAutoscaler"})
"""Kinds that no answer about a cluster needs, unless it is about one object."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|)")


@dataclass(frozen=True, slots=True)
class Held:
    """What exists already: objects, the namespace that a kubeconfig names, absent kinds.

    `is_nothing`: files are laid over nothing at all; `refused` are kinds that may not be read.
    """

    world: World
    namespace: str = ""
    absent: frozenset[Kind] = frozenset()
    is_folder: bool = False
    is_nothing: bool = False
    refused: frozenset[Kind] = frozenset()


def choice(base: options.Reach) -> Choice:
    """What a person chose of the kubeconfig."""
    from ingressctl.cluster.connection import Choice  # noqa: PLC0415 - half a second

    return Choice(
        base.kubeconfig, base.context, base.cluster, base.user, base.as_user, tuple(base.as_group)
    )


def read(
    base: options.Base,
    settings: Settings,
    printer: Printer,
    *,
    home: str = "",
    beneath: bool = False,
) -> Held:
    """Everything that routes may follow from. Raises CommandFault.

    `home` is the namespace that was chosen; `beneath` asks there for what lies below routes.
    """
    from ingressctl.cluster import connection, readonly  # noqa: PLC0415 - half a second

    seconds = parse_duration(base.request_timeout)
    asked = (*_questions(settings), *(questions_beneath() if beneath else ()))
    try:
        answer = readonly.read(asked, choice(base), seconds=seconds, home=home)
    except connection.Unusable as fault:
        raise CommandFault.of(
            str(fault), "check kubeconfig and network, or give --against none or a folder"
        ) from None
    tell_refused(answer.refused, printer)
    world = World.of(_of_their_shape(answer.objects, printer))
    return Held(
        world,
        answer.namespace,
        answer.absent,
        refused=frozenset(item.resource.identity for item in answer.refused if not item.instead),
    )


def tell_refused(refused: Iterable[Refused], printer: Printer) -> None:
    """Names every right that is missing, and what that leaves out.

    What is left out may make the answer a wrong one, which -q must not hide.
    """
    for item in refused:
        name = kindnames.called(item.resource)
        where = f"in namespace {item.namespace}" if item.namespace else "in every namespace"
        text = f"{name} may not be {item.verb}ed {where}, {_left(item)}: {item.reason}"
        remedy = f"ask for the verb {item.verb} on {name} {where}"
        if item.instead or item.verb == "watch":
            printer.notices([Note(text, remedy, Origin("cluster"))])
        else:
            printer.warn(f"{printer.loud('yellow', 'warning:')} cluster: {text} ({remedy})")


def _left(item: Refused) -> str:
    """What is missing without the right."""
    if item.verb == "watch":
        return "listed every few seconds instead"
    return f"only those of namespace {item.instead} are known" if item.instead else "left out"


def readable(objects: Iterable[Raw]) -> Iterator[Raw]:
    """The objects that rules can read; services of a wrong shape are told by admission."""
    for obj in objects:
        fault = shapes.fault(obj)
        if fault is None or fault.ref[:2] == kinds.INFERENCE_SERVICE:
            yield obj


def _of_their_shape(objects: Iterable[Raw], printer: Printer) -> Iterator[Raw]:
    """The objects that rules can read; preserved fields and old versions are unchecked."""
    for obj in objects:
        fault = shapes.fault(obj)
        if fault is None or fault.ref[:2] == kinds.INFERENCE_SERVICE:
            yield obj
        else:
            text = f"{fault} and the object is left out"
            printer.notices([Note(text, "correct the object", Origin("cluster"))])


def parse_duration(text: str, flag: str = "--request-timeout") -> float | None:
    """Seconds of ``1m30s`` or ``500ms``; 0 means no limit. Raises CommandFault."""
    parts = _DURATION.findall(text)
    if not text or "".join(number + unit for number, unit in parts) != text:
        raise CommandFault.of(f"{flag} cannot be {text!r}", "write a duration such as 10s or 1m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts) or None


def _questions(settings: Settings) -> Iterator[Question]:
    """Kinds to list. Of ConfigMaps only those of the two namespaces that routes follow from."""
    from ingressctl.cluster.readonly import Question  # noqa: PLC0415 - half a second

    for resource in kinds.RESOURCES:
        if resource.kind in NOT_ASKED:
            continue
        if resource.identity == ("", "ConfigMap"):
            spaces = dict.fromkeys((settings.config_namespace, settings.knative_namespace))
            yield Question(resource, tuple(spaces))
        else:
            yield Question(resource)


def questions_beneath() -> tuple[Question, ...]:
    """Kinds below a route, in the namespace of the object that somebody asks about."""
    from ingressctl.cluster.readonly import HOME, Question  # noqa: PLC0415 - half a second

    also = (item for item in kinds.RESOURCES if item.kind == "HorizontalPodAutoscaler")
    return tuple(Question(resource, (HOME,)) for resource in (*also, *kindnames.BENEATH))
