"""What holds for one service during the components phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import InferenceService
from ingressctl.api.refs import Raw
from ingressctl.core.kserve import configuration
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.values import Value
from ingressctl.core.world import Reads
from ingressctl.sources.kserve.draft import Draft

OWN_REASONS = frozenset({"Stopped", "ReconcileFailed"})
"""Reasons that the reconcile gives itself; they are no word about a workload."""


class Scope(Value, frozen=True):
    """Service, configuration, mode, the status being made, and the recorder.

    `told` are the conditions that the status held before the phase, `stored_canaries` the
    canaries that it called ready or not.
    """

    service: InferenceService
    config: Config
    mode: str
    draft: Draft
    reads: Reads
    told: frozenset[str]
    stored_canaries: Mapping[str, bool]

    @classmethod
    def of(
        cls, service: InferenceService, config: Config, mode: str, draft: Draft, reads: Reads
    ) -> Scope:
        """The scope of a service, with what its stored status knows."""
        conditions = service.status.get("conditions") or ()
        canaries = service.status.get("canaryStatuses") or ()
        return cls(
            service,
            config,
            mode,
            draft,
            reads,
            frozenset(
                str(item.get("type"))
                for item in conditions
                if item.get("reason") not in OWN_REASONS
            ),
            {str(item.get("name")): bool(item.get("ready")) for item in canaries},
        )

    @property
    def is_standard(self) -> bool:
        """Deployments rather than Knative Services."""
        return self.mode == "Standard"

    def ingress(self) -> IngressConfig:
        """Key `ingress`. Raises configmaps.ConfigFault."""
        return configuration.ingress(self.reads)

    def component(self, name: str) -> Raw:
        """The raw spec of a component."""
        found: Raw = (self.service.raw.get("spec") or {}).get(name) or {}
        return found

    def component_status(self, name: str) -> Mapping[str, Any]:
        """The status of a component as it stands in the draft."""
        found: Mapping[str, Any] = (self.draft.fields.get("components") or {}).get(name) or {}
        return found

    @property
    def assumes_ready(self) -> bool:
        """Whether workloads without a word about them count as ready."""
        return self.reads.assumes_ready(self.service.ref)

    def is_told(self, kind: str) -> bool:
        """Whether somebody's status speaks of that condition."""
        return kind in self.told and not self.is_fresh

    @property
    def is_fresh(self) -> bool:
        """Whether the service is in files alone: its status is what we made of it."""
        return self.service.ref in self.reads.settings.fresh
