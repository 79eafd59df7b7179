"""Which AuthorizationPolicies a request meets on its way, and what each does to a program.

Platforms put a login before their gateways and owner rules into namespaces; both look like
routing faults from outside (F105). A rule is judged by what is known of a call: what is
not known (addresses, identities of clients) counts as fulfilled, so that silence never
accuses a policy. Nothing here proposes to switch a policy off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ingressctl.api.refs import Raw, Ref, labels_of, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Request
from ingressctl.core.world import Kind, Reads

AUTHORIZATION_POLICY: Kind = ("security.istio.io", "AuthorizationPolicy")
ROOT_NAMESPACE = "istio-system"
GATEWAY_LABELS = {"app": "istio-ingressgateway", "istio": "ingressgateway"}
"""Labels of Istio's own gateway pods, for a Gateway that is not in the world."""

PROBE_PATHS = ("/healthz", "/metrics", "/wait-for-drain")
"""Paths by which activator and autoscaler ask a revision."""

_HEADER_KEY = re.compile(r"request\.headers\[(?P<name>[^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Call:
    """What is known of a call. `namespace` "" and `principal` "": of a stranger."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    known_source: bool = False

    @staticmethod
    def of(request: Request) -> Call:
        """A call from outside."""
        return Call(request.method, request.bare_host, request.bare_path, request.headers)


def at_gateway(entry: str, request: Request, *, reads: Reads) -> Iterator[Finding]:
    """What the policies of a gateway's pods do to a request."""
    labels = _gateway_labels(entry, reads)
    call = Call.of(request)
    for policy in reads.list(AUTHORIZATION_POLICY):
        if not _at_gateway(policy, labels, entry):
            continue
        spec = policy.get("spec") or {}
        login = (spec.get("provider") or {}).get("name")
        if spec.get("action") == "CUSTOM" and _takes(policy, call):
            ref = ref_of(policy)
            yield Finding.of("IC3301", ref, policy=str(ref), login=login or "?", entry=entry)
        else:
            yield from _refusals(policy, call)


def at_backend(
    namespace: str, request: Request, *, knative: bool, reads: Reads
) -> Iterator[Finding]:
    """What the policies of a backend's namespace do to a request and to Knative's probes."""
    call = Call.of(request)
    for policy in reads.list(AUTHORIZATION_POLICY, namespace):
        if namespace == ROOT_NAMESPACE:
            return
        refused = tuple(_refused_probes(policy, reads)) if knative else ()
        yield from refused or _refusals(policy, call)


def _refused_probes(policy: Raw, reads: Reads) -> Iterator[Finding]:
    """An ALLOW policy without a rule that lets activator and autoscaler ask."""
    spec, ref = policy.get("spec") or {}, ref_of(policy)
    knative = reads.settings.knative_namespace
    probes = [Call("GET", "", path, {}, knative, known_source=True) for path in PROBE_PATHS]
    if (spec.get("action") or "ALLOW") == "ALLOW" and not any(
        _takes(policy, probe) for probe in probes
    ):
        yield Finding.of(
            "IC3302",
            ref,
            policy=str(ref),
            needs=_needs(spec),
            knative=knative,
            paths=", ".join(PROBE_PATHS),
        )


def _refusals(policy: Raw, call: Call) -> Iterator[Finding]:
    spec, ref = policy.get("spec") or {}, ref_of(policy)
    action = spec.get("action") or "ALLOW"
    if action == "ALLOW" and not _takes(policy, call):
        why = f"admits only calls with {_needs(spec)}"
        yield Finding.of("IC3309", ref, policy=str(ref), why=why)
    if action == "DENY" and spec.get("rules") and _takes(policy, call, unknown=False):
        yield Finding.of("IC3309", ref, policy=str(ref), why="denies it")


def _gateway_labels(entry: str, reads: Reads) -> Mapping[str, str]:
    namespace, _, name = entry.partition("/")
    gateway = reads.get(Ref("networking.istio.io", "Gateway", namespace, name))
    selector = ((gateway or {}).get("spec") or {}).get("selector")
    if gateway is None or not selector:
        return GATEWAY_LABELS
    return {**_pod_labels(selector, reads), **selector}


def _pod_labels(selector: Mapping[str, str], reads: Reads) -> Mapping[str, str]:
    """All labels of the gateway's pods, as far as a Deployment in the world tells."""
    for deployment in reads.list(("apps", "Deployment")):
        labels = labels_of(((deployment.get("spec") or {}).get("template")) or {})
        if selector.items() <= labels.items():
            return labels
    return {}


def _at_gateway(policy: Raw, labels: Mapping[str, str], entry: str) -> bool:
    spec = policy.get("spec") or {}
    targets = spec.get("targetRefs") or ([spec["targetRef"]] if spec.get("targetRef") else [])
    if targets:
        namespace, _, name = entry.partition("/")
        return ref_of(policy).namespace == namespace and any(
            (target.get("kind"), target.get("name")) == ("Gateway", name) for target in targets
        )
    wanted = (spec.get("selector") or {}).get("matchLabels") or {}
    if not wanted:
        return ref_of(policy).namespace == ROOT_NAMESPACE
    return bool(wanted.items() <= labels.items())


def _takes(policy: Raw, call: Call, *, unknown: bool = True) -> bool:
    """Whether some rule takes the call; what cannot be known counts as `unknown`."""
    rules = (policy.get("spec") or {}).get("rules") or ()
    return any(_rule(rule or {}, call, unknown) for rule in rules)


def _rule(rule: Mapping[str, Any], call: Call, unknown: bool) -> bool:
    sources: Iterable[Mapping[str, Any]] = rule.get("from") or ({},)
    operations: Iterable[Mapping[str, Any]] = rule.get("to") or ({},)
    return (
        any(_source(item.get("source") or {}, call, unknown) for item in sources)
        and any(_operation(item.get("operation") or {}, call) for item in operations)
        and all(_condition(item, call, unknown) for item in rule.get("when") or ())
    )


def _source(source: Mapping[str, Any], call: Call, unknown: bool) -> bool:
    namespaces, barred = source.get("namespaces"), source.get("notNamespaces")
    principals = source.get("principals")
    if source.get("requestPrincipals"):
        return _has_token(call)
    if not call.known_source:
        closed = namespaces or principals
        return False if closed else not barred or unknown
    if namespaces and not _one_of(namespaces, call.namespace):
        return False
    if barred and _one_of(barred, call.namespace):
        return False
    spaces = [str(item).split("/ns/")[-1].split("/")[0] for item in principals or ()]
    return not spaces or any(_text(space, call.namespace) for space in spaces)


def _has_token(call: Call) -> bool:
    return call.headers.get("authorization", "").lower().startswith("bearer ")


_OPERATION = (("methods", "method"), ("paths", "path"), ("hosts", "host"))


def _operation(operation: Mapping[str, Any], call: Call) -> bool:
    for key, part in _OPERATION:
        value = getattr(call, part)
        wanted, barred = operation.get(key), operation.get(f"not{key.capitalize()}")
        if wanted and not _one_of(wanted, value):
            return False
        if barred and _one_of(barred, value):
            return False
    return True


def _condition(item: Mapping[str, Any], call: Call, unknown: bool) -> bool:
    key = str(item.get("key") or "")
    header = _HEADER_KEY.fullmatch(key)
    if header is not None:
        return _values(item, call.headers.get(header["name"].lower()))
    if key.startswith("request.auth."):
        return _has_token(call)
    if key == "source.namespace":
        return _values(item, call.namespace) if call.known_source else False
    return unknown


def _values(item: Mapping[str, Any], value: str | None) -> bool:
    wanted, barred = item.get("values"), item.get("notValues")
    if wanted and (value is None or not _one_of(wanted, value)):
        return False
    return not barred or value is None or not _one_of(barred, value)


def _one_of(patterns: Iterable[Any], value: str) -> bool:
    return any(_text(str(pattern), value) for pattern in patterns)


def _text(pattern: str, value: str) -> bool:
    """Exact, ``abc*``, ``*abc``, or ``*`` for anything that is there."""
    if pattern == "*":
        return bool(value)
    if pattern.startswith("*"):
        return value.endswith(pattern[1:])
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _needs(spec: Mapping[str, Any]) -> str:
    """What the rules ask for, in words."""
    found: dict[str, None] = {}
    for rule in filter(None, spec.get("rules") or ()):
        for item in rule.get("when") or ():
            header = _HEADER_KEY.fullmatch(str(item.get("key") or ""))
            name = f"header {header['name']}" if header else str(item.get("key"))
            found[f"{name} {_or(item.get('values'))}".rstrip()] = None
        for holder, part in (("from", "source"), ("to", "operation")):
            for item in rule.get(holder) or ():
                for key, values in (item.get(part) or {}).items():
                    found[f"{key} {_or(values)}".rstrip()] = None
    return ", ".join(found) or "nothing (it has no rules)"


def _or(values: Iterable[Any] | None) -> str:
    return " or ".join(map(str, values or ()))
