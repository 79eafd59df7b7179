"""Services that nobody made private and that Knative's domain keeps inside (F1).

Since Knative 1.8 the domain is the cluster's own unless config-domain names another. The
URL that Knative wrote decides; where it wrote none yet, the ConfigMap of the input does.
"""

from __future__ import annotations

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
    InferenceService,
)
from ingressctl.api.refs import Ref
from ingressctl.core import knative_hosts, naming
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Reads


def by_domain(service: InferenceService, reads: Reads) -> Finding | None:
    """The finding about a service in Knative mode whose domain makes it internal."""
    if CLUSTER_LOCAL in map(service.labels.get, (KNATIVE_VISIBILITY, KSERVE_VISIBILITY)):
        return None
    domain = f"svc.{reads.settings.cluster_domain}"
    url = _observed(service) or _expected(service, reads)
    if not url.rstrip("/").endswith(f".{domain}"):
        return None
    setting = Ref("", "ConfigMap", reads.settings.knative_namespace, "config-domain")
    named = (service.ref,) if reads.get(setting) is None else (service.ref, setting)
    return Finding.of("IC2011", *named, domain=domain, url=url)


def _observed(service: InferenceService) -> str:
    components = service.status.get("components") or {}
    return str((components.get(service.entry) or {}).get("url") or "")


def _expected(service: InferenceService, reads: Reads) -> str:
    """The URL that Knative is going to write; "" where the input does not tell."""
    name = service.object_name(service.entry)
    try:
        host = knative_hosts.route_host(
            name,
            service.namespace,
            labels=service.labels,
            annotations=service.annotations,
            reads=reads,
        )
    except (naming.NameFault, configmaps.ConfigFault):
        return ""
    return f"http://{host}"
