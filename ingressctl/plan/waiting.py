"""Whether a wait is over: the object is as wanted, or can never be without somebody's help.

A reason is terminal if no patience changes it: admission refuses the object, its kind or that
of its routes is not served, the configuration cannot be read, somebody else's object stands in
the place, the host is taken, a Deployment gave up. What may still come (an image, a node, a
runtime, a gateway) is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingressctl.api.inferenceservices import KIND as INFERENCE_SERVICE
from ingressctl.api.refs import Ref, ref_of
from ingressctl.core import findings as table
from ingressctl.core.settings import Settings
from ingressctl.plan import admitting, kindnames, states
from ingressctl.plan.chain import Node
from ingressctl.plan.describing import Cause, Description
from ingressctl.plan.states import State

GIVEN_UP = frozenset(
    (
        "ProgressDeadlineExceeded",
        "HostInUse",
        "ObjectNotOwned",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ContainerMissing",
        "NotAllowedByListeners",
        "NoMatchingListenerHostname",
        "InvalidKind",
        "UnsupportedValue",
        "RefNotPermitted",
        "InvalidGraph",
        "InvalidConfiguration",
        "InvalidAutoscaler",
        "InvalidHost",
        "ProtocolNotSupported",
        "ServerlessModeRejected",
    )
)
"""Reasons of conditions and containers that stay until somebody changes something."""

GRAVE = admitting.REFUSALS | {"IC1102", "IC2101", "IC4101", "IC4201", "IC5101"}
"""Codes of findings that say the same."""

FAILED_MODELS = frozenset(("InvalidSpec", "BlockedByFailedLoad"))
"""What modelStatus.transitionStatus says of a model that will not load as it is."""

_FOR = re.compile(r"condition=(?P<type>[A-Za-z0-9./_-]+)(?:=(?P<status>True|False|Unknown))?")


class WishFault(ValueError):
    """--for names nothing that can be waited for. Its message is for people."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A condition, and the status that it is to have."""

    type: str = "Ready"
    status: str = "True"

    @property
    def is_ready(self) -> bool:
        """Whether it is what makes an object ready."""
        return self.type.lower() == "ready" and self.status == "True"


def parse(text: str) -> Wish:
    """``condition=Ready`` or ``condition=Available=False``. Raises WishFault."""
    found = _FOR.fullmatch(text.strip())
    if found is None:
        raise WishFault(f"{text!r} is no condition")
    return Wish(found["type"], found["status"] or "True")


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a wait stands. `cause` tells why not yet; `over`: it will not come by itself."""

    met: bool
    cause: Cause | None = None
    over: bool = False


def look(told: Description, wish: Wish, settings: Settings) -> Outlook:
    """How the wait for an object stands."""
    state = _state(told, wish)
    if state.status == wish.status:
        return Outlook(True)
    if not wish.is_ready:
        return Outlook(
            False, Cause(told.ref, f"{wish.type} is {state.status or '<unset>'}", state.text)
        )
    final = next(_finals(told, settings), None)
    if final is not None:
        return Outlook(False, final, over=True)
    return Outlook(False, told.cause or Cause(told.ref, "", "it does not say that it is ready"))


def is_silent(told: Description, wish: Wish) -> bool:
    """Whether objects of the kind never say whether they are ready."""
    kind = told.ref[:2]
    return wish.is_ready and not states.speaks(kind) and not states.conditions(told.obj)


def _state(told: Description, wish: Wish) -> State:
    """Ready is read as each kind says it, any other condition by its name."""
    named = states.condition(told.obj, wish.type)
    if wish.type.lower() == "ready" and not named.status:
        return told.node.state
    if wish.is_ready and told.node.state.reason == "StatusOutdated":
        return told.node.state
    return named


def _finals(told: Description, settings: Settings) -> Iterator[Cause]:
    """Why the object will not become ready by itself, the gravest first."""
    for finding in told.findings:
        if finding.code in GRAVE:
            ref = finding.refs[0] if finding.refs else told.ref
            yield Cause(ref, finding.code, table.message(finding), table.remedy(finding))
    for fault in told.step.faults if told.step and told.step.ref == told.ref else ():
        if fault.where in ("config", "admission"):
            yield Cause(told.ref, "", fault.message)
    yield from _unserved(told, settings)
    yield from _failed_model(told)
    canaries = _canaries(told)
    yield from (_given_up(node) for node in _walk(told.node, canaries) if _is_given_up(node))


def _unserved(told: Description, settings: Settings) -> Iterator[Cause]:
    """Kinds of the object's routes that the cluster does not have."""
    wanted = told.step.emission.objects if told.step and told.step.ref == told.ref else ()
    for kind in dict.fromkeys(ref_of(obj)[:2] for obj in wanted):
        resource = kindnames.BY_IDENTITY.get(kind)
        if kind in settings.absent and resource is not None:
            name = kindnames.called(resource)
            yield Cause(
                told.ref, "", f"the cluster does not serve {name}, which its routes are made of",
                f"install the CRD of {name}, or choose another provider",
            )  # fmt: skip


def _failed_model(told: Description) -> Iterator[Cause]:
    if told.ref[:2] != INFERENCE_SERVICE:
        return
    status = (told.obj.get("status") or {}).get("modelStatus") or {}
    if (status.get("lastFailureInfo") or {}).get("reason") == "NoSupportingRuntime":
        return  # KServe leaves it there when the runtime has come
    if status.get("transitionStatus") in FAILED_MODELS:
        info = status.get("lastFailureInfo") or {}
        reason = str(info.get("reason") or status["transitionStatus"])
        yield Cause(told.ref, reason, str(info.get("message") or ""))


def _canaries(told: Description) -> frozenset[Ref]:
    """Deployments of canaries: a service is ready without them."""
    return frozenset(
        Ref("apps", "Deployment", item.of.namespace, share.name)
        for item in told.splittings
        for share in item.shares
        if share.role == "canary"
    )


def _walk(node: Node, without: frozenset[Ref]) -> Iterator[Node]:
    """What is not ready, and what is not ready below it; a ready object answers for its own."""
    if node.ref in without or node.state.status == "True":
        return
    for item in node.below:
        yield from _walk(item, without)
    yield node


def _is_given_up(node: Node) -> bool:
    return node.state.status == "False" and node.state.reason in GIVEN_UP


def _given_up(node: Node) -> Cause:
    return Cause(node.ref, node.state.reason, node.state.message.strip())
