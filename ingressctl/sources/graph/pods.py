"""The pod of a graph's router, in either mode (spec/inferencegraph.md 6 and 7)."""

from __future__ import annotations

import json
from typing import Any

from ingressctl.api import dns
from ingressctl.api.configmaps import RouterConfig
from ingressctl.api.refs import Raw
from ingressctl.core.world import Reads
from ingressctl.sources.graph import argument
from ingressctl.sources.graph.scope import CONFIG_MAP, GRAPH_LABEL, Scope

PORT = 8080
FOLDER = "/etc/ingressctl/graph"
FILE = "graph.json"
VARIABLE = "PROPAGATE_HEADERS"
_VOLUME = "graph"

_PROBE = {
    "httpGet": {"path": "/readyz", "port": PORT, "scheme": "HTTP"},
    "initialDelaySeconds": 5,
    "timeoutSeconds": 2,
    "periodSeconds": 5,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_SECURITY = {
    "privileged": False,
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}


def container(scope: Scope, stored: Raw | None) -> dict[str, Any]:
    """The router's container; without a name, as Knative has it."""
    router = scope.router
    made: dict[str, Any] = {"image": router.image}
    if router.command:
        made["command"] = list(router.command)
    made["args"] = _args(scope, stored)
    headers = propagated(scope.router, scope.reads)
    if headers is not None:  # an empty value is not stored
        made["env"] = [{"name": VARIABLE, **({"value": headers} if headers else {})}]
    if scope.mounts_graph:
        made["volumeMounts"] = [{"name": _VOLUME, "mountPath": FOLDER, "readOnly": True}]
    return {
        **made,
        "resources": _resources(scope),
        "readinessProbe": _PROBE,
        "securityContext": _SECURITY,
    }


def spec(scope: Scope, router: Raw) -> dict[str, Any]:
    """The pod around the container: what the graph and the configuration say of it.

    Knative drops the name of a node without a word, so it is not written there.
    """
    graph = scope.graph.spec
    made: dict[str, Any] = {"containers": [router], "automountServiceAccountToken": False}
    given = {
        "affinity": graph.affinity,
        "tolerations": graph.tolerations,
        "nodeSelector": graph.nodeSelector,
        "nodeName": graph.nodeName if scope.is_standard else "",
        "serviceAccountName": graph.serviceAccountName,
        "imagePullSecrets": [{"name": name} for name in scope.router.imagePullSecrets],
    }
    made.update({key: value for key, value in given.items() if value})
    if scope.mounts_graph:
        made["volumes"] = [{"name": _VOLUME, "configMap": {"name": map_name(scope)}}]
    return made


def map_name(scope: Scope) -> str:
    """The ConfigMap that holds the graph."""
    return dns.cut(f"{scope.graph.name}-graph", dns.SUBDOMAIN_LIMIT)


def config_map(scope: Scope) -> Raw:
    """The graph for the router to read, now and after every change."""
    labels = {GRAPH_LABEL: scope.graph.name}
    frame = scope.frame("v1", CONFIG_MAP[1], labels, {}, map_name(scope))
    return {**frame, "data": {FILE: argument.text(scope.spec, None)}}


def _args(scope: Scope, stored: Raw | None) -> list[str]:
    if not scope.mounts_graph:
        return [argument.FLAG, argument.text(scope.spec, stored)]
    args = ["--graph-file", f"{FOLDER}/{FILE}"]
    compat = scope.reads.settings.compat.text
    return args if compat == "better" else [*args, "--compat", compat]


def propagated(router: RouterConfig, reads: Reads) -> str | None:
    """PROPAGATE_HEADERS of a router: the names of the headers that every step gets; None leaves
    the variable out.

    An empty list would hand on everything (IG-D3). A pattern with a comma in it needs a list
    that is not split at commas (IG-D16).
    """
    names = router.headers.propagate
    if names is None:
        return None
    if reads.differs("IG-D3"):
        names = tuple(name for name in names if name)
        if not names:
            return None
    if reads.differs("IG-D16") and any("," in name for name in names):
        return json.dumps(names, separators=(",", ":"), ensure_ascii=False)
    return ",".join(names)


def _resources(scope: Scope) -> dict[str, Any]:
    """The graph's own as a whole, else those of the configuration."""
    own = scope.graph.spec.resources
    if own:
        return {key: own[key] for key in ("limits", "requests") if own.get(key)}
    router = scope.router
    return {
        "limits": {"cpu": router.cpuLimit, "memory": router.memoryLimit},
        "requests": {"cpu": router.cpuRequest, "memory": router.memoryRequest},
    }
