"""What the routing step works on and what it leaves: one draft of the status, one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import InferenceService
from ingressctl.core.conditions import Conditions
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.model import Route
from ingressctl.core.outcome import Fault, Finding, Keep
from ingressctl.core.values import Value
from ingressctl.core.world import Reads
from ingressctl.sources.kserve import readiness

DEPENDENTS = ("PredictorReady", "IngressReady")


@dataclass(slots=True)
class Draft:
    """The status while it is being made: conditions apart from the other fields."""

    conditions: Conditions
    fields: dict[str, Any]

    @classmethod
    def of(cls, service: InferenceService, reads: Reads) -> Draft:
        """A draft of the stored status."""
        fields = {key: value for key, value in service.status.items() if key != "conditions"}
        stored = service.status.get("conditions") or ()
        return cls(Conditions.load(_dependents(service, reads), stored), fields)

    def wipe(self) -> None:
        """Forget everything but the mode."""
        mode = self.fields.get("deploymentMode")
        self.fields = {} if mode is None else {"deploymentMode": mode}
        self.conditions = Conditions(self.conditions.dependents)

    def component_url(self, component: str) -> str:
        """The URL of a component's own host; "" while it has none."""
        found = (self.fields.get("components") or {}).get(component) or {}
        return str(found.get("url") or "")

    def overwrite_scheme(self, component: str, scheme: str) -> None:
        """What KServe does to the component's own URL while it makes the service's (Q23)."""
        components = self.fields.get("components") or {}
        if component not in components:
            return
        url = urlunsplit(urlsplit(self.component_url(component))._replace(scheme=scheme))
        touched = {**components[component], "url": url}
        self.fields["components"] = {**components, component: touched}

    def publish(self, url: str, address: str) -> None:
        """Set url and address."""
        self.fields["url"] = url
        self.fields["address"] = {**(self.fields.get("address") or {}), "url": address}

    def dump(self) -> dict[str, Any]:
        """The whole status."""
        return {**self.fields, "conditions": self.conditions.dump()}


def _dependents(service: InferenceService, reads: Reads) -> tuple[str, ...]:
    """What Ready depends on; with Q20 on every component in spec."""
    if not reads.differs("Q20") or service.entry == "predictor" == service.components[-1][0]:
        return DEPENDENTS
    return ("IngressReady", *(readiness.READY[name] for name, _ in service.components))


class Context(Value, frozen=True):
    """Everything that holds for one service during one routing step."""

    service: InferenceService
    config: Config
    ingress: IngressConfig
    provider: str
    labels: Mapping[str, str]
    draft: Draft
    reads: Reads


class Routing(Value, frozen=True):
    """What the routing step wants.

    `routes` are all wanted routes, also those whose object is up to date; `keep` names
    objects that stay as they are.
    """

    routes: tuple[Route, ...] = ()
    keep: Keep = Keep()
    findings: tuple[Finding, ...] = ()
    faults: tuple[Fault, ...] = ()
    again: float | None = None
