"""The predictor's runtime, chosen and told in the status (spec/kserve-runtimes.md 6)."""

from __future__ import annotations

from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Event, Finding
from ingressctl.sources.kserve.components import predictor, runtimes
from ingressctl.sources.kserve.components.made import Made
from ingressctl.sources.kserve.components.scope import Scope

NAME_FIELDS = {
    runtimes.NAMESPACED[1]: "servingRuntimeName",
    runtimes.CLUSTER[1]: "clusterServingRuntimeName",
}


def select(scope: Scope, made: Made) -> predictor.Selected:
    """The predictor in written form with its choice. Raises ComponentFault."""
    written = predictor.as_model(scope.component("predictor"))
    selected = predictor.select(written, scope.service, reads=scope.reads, serving=_serving(scope))
    if selected.choice is not None:
        _tell(scope, made, selected.choice)
    elif scope.reads.differs("Q29"):
        _forget_names(scope)  # KServe leaves the last runtime's name in the status
    return selected


def _serving(scope: Scope) -> Ref | None:
    """The runtime that status says serves the predictor."""
    status = scope.service.status
    own, shared = status.get("servingRuntimeName"), status.get("clusterServingRuntimeName")
    if own:
        return Ref(*runtimes.NAMESPACED, scope.service.namespace, str(own))
    return Ref(*runtimes.CLUSTER, "", str(shared)) if shared else None


def _tell(scope: Scope, made: Made, choice: runtimes.Choice) -> None:
    named = choice.named.ref
    _forget_names(scope)
    scope.draft.fields[NAME_FIELDS[named.kind]] = named.name
    if choice.named.assumed:
        made.findings.append(Finding.of("IC1203", scope.service.ref, runtime=named.name))
    if choice.better is not None:
        text = (
            f"runtime {choice.better.ref.name} would be chosen anew; {named.name} goes on "
            "serving: name the other in model.runtime to change"
        )
        made.events.append(Event("Normal", "BetterRuntimeAvailable", text))


def _forget_names(scope: Scope) -> None:
    for name in NAME_FIELDS.values():
        scope.draft.fields.pop(name, None)
