"""Whether a service is cluster-local (spec/kserve-ingress.md 7.2, 17)."""

from __future__ import annotations

from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
)
from ingressctl.core.kserve.served import Served
from ingressctl.core.world import Reads


def labelled_local(service: Served, mode: str, reads: Reads) -> bool:
    """The visibility label of the mode; of either mode with difference Q46."""
    own = KSERVE_VISIBILITY if mode == "Standard" else KNATIVE_VISIBILITY
    keys = (KNATIVE_VISIBILITY, KSERVE_VISIBILITY) if reads.differs("Q46") else (own,)
    return any(service.labels.get(key) == CLUSTER_LOCAL for key in keys)


def standard_local(service: Served, ingress: IngressConfig, reads: Reads) -> bool:
    """Standard mode: by label, or because the ingress domain is the cluster's own."""
    private = f"svc.{reads.settings.cluster_domain}" if reads.differs("Q48") else ""
    return labelled_local(service, "Standard", reads) or ingress.ingressDomain in (
        "svc.cluster.local",
        private,
    )
