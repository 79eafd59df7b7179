"""Requests of a case through the emitted configuration (cases/field/README.md, traffic).

The objects are read back and asked, as `explain` does; shares are computed, not drawn, so
`repeat` and `clients` change nothing. A key of the tables that needs a running backend or
a client with a memory is a fault with that reason, never a skip; any other key raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from ingressctl.api.refs import Ref
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, Request
from ingressctl.core.world import Reads, World
from ingressctl.plan import explain, registry
from ingressctl.plan.explanation import Attempt, Branch, leaves
from ingressctl.sources.knative import gateways

ENTRY_KEYS = frozenset({"via", "request", "expect", "repeat", "clients", "start", "stub"})
REQUEST_KEYS = frozenset({"method", "host", "path", "headers", "grpc"})
RUNNING = {
    "start": "requests while things change need a running controller",
    "stub": "what a backend does needs a running proxy",
    "backendCalls": "counting calls needs a running proxy",
    "sticky": "a client with a memory needs a running proxy",
    "clientShare": "a client with a memory needs a running proxy",
    "responseHeaders": "headers of answers need a running proxy",
    "responseHeadersAbsent": "headers of answers need a running proxy",
}
GRPC_OF_HTTP = {200: 0, 400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14}
UNKNOWN = 2
TOLERANCE = 0.005


def judge(
    block: Iterable[Mapping[str, Any]],
    world: World,
    settings: Settings,
    *,
    providers: tuple[str, ...] = (),
) -> list[str]:
    """What does not hold of a `traffic` list; `world` is the state after our changes.

    A case names no scheme: a request comes by the listener that has its host.
    `providers` limits the outputs that are asked (names of ours, such as gateway_api).
    """
    asked = _limited(providers)
    faults: list[str] = []
    for entry in block:
        strange = set(entry) - ENTRY_KEYS
        if strange:
            raise ValueError(f"traffic has no field {sorted(strange)}")
        request = request_of(entry["request"])
        via = _via(entry["via"], Reads(world, settings, providers=asked))
        asks = (replace(request, scheme=scheme, port=port) for scheme, port in _doors(via, world))
        answers = [explain.explain(one, world, settings, via=via, providers=asked) for one in asks]
        found = next((answer for answer in answers if not answer.missed), answers[0])
        where = f"{entry['via']}: {request.method} {request.host}{request.path}"
        faults += [f"{where}: {RUNNING[key]}" for key in ("start", "stub") if key in entry]
        if not found.attempts:
            faults.append(f"{where}: nothing is known of this entry")
            continue
        faults += [f"{where}: {fault}" for fault in _judge(entry["expect"], found.attempts[0])]
    return faults


def _doors(via: str, world: World) -> list[tuple[Literal["http", "https"], int]]:
    """Scheme and port of every listener of the entry; those of the web where none is known."""
    _, _, name = via.partition(" ")
    space, _, name = name.rpartition("/")
    found: dict[tuple[Literal["http", "https"], int], None] = {("http", 0): None}
    for group in ("gateway.networking.k8s.io", "networking.istio.io"):
        spec = (world.get(Ref(group, "Gateway", space, name)) or {}).get("spec") or {}
        for listener in spec.get("listeners") or ():
            found[_scheme(listener["protocol"]), listener["port"]] = None
        for server in spec.get("servers") or ():
            found[_scheme(server["port"]["protocol"]), server["port"]["number"]] = None
    return [*found, ("https", 0)]


def _scheme(protocol: str) -> Literal["http", "https"]:
    return "https" if protocol.upper() in ("HTTPS", "TLS") else "http"


def _limited(names: tuple[str, ...]) -> Mapping[str, Provider]:
    every = registry.providers()
    return {name: every[name] for name in names} if names else every


def _via(text: str, reads: Reads) -> str:
    if text == "external":
        return f"gateway {gateways.find(reads).public[0][0]}"
    if text.partition(" ")[0] not in ("gateway", "ingress"):
        raise ValueError(f"traffic cannot come via {text!r}")
    return text


def request_of(given: Mapping[str, Any]) -> Request:
    """The request of an entry; `grpc` is a unary call of service/method."""
    strange = set(given) - REQUEST_KEYS
    if strange:
        raise ValueError(f"a request has no field {sorted(strange)}")
    headers = {str(k).lower(): str(v) for k, v in (given.get("headers") or {}).items()}
    if "grpc" in given:
        headers.setdefault("content-type", "application/grpc")
        headers.setdefault("te", "trailers")
        return Request("POST", given["host"], f"/{given['grpc']}", headers)
    return Request(given.get("method") or "GET", given["host"], given.get("path") or "/", headers)


def _judge(expect: Mapping[str, Any], attempt: Attempt) -> Iterator[str]:
    for key, value in expect.items():
        if key in RUNNING:
            yield f"{key}: {RUNNING[key]}"
        elif key in STATUSES:
            yield from _status(key, value, attempt)
        elif key == "share":
            yield from _share(value, attempt)
        elif key in SEEN:
            yield from _seen(key, value, attempt)
        else:
            raise ValueError(f"expect has no field {key!r}")


STATUSES = frozenset({"status", "statusIn", "statusNotIn", "grpcStatus"})
SEEN = frozenset({"backend", "hostHeader", "path", "headers", "headersIn"})


def _status(key: str, value: Any, attempt: Attempt) -> Iterator[str]:
    for status in sorted({leaf.status or 200 for leaf in leaves(attempt) if leaf.share}):
        holds = {
            "status": lambda got: got == value,
            "statusIn": lambda got: got in value,
            "statusNotIn": lambda got: got not in value,
            "grpcStatus": lambda got: GRPC_OF_HTTP.get(got, UNKNOWN) == value,
        }[key]
        if not holds(status):
            yield f"status is {status}, wanted {key} {value}"


def _branches(attempt: Attempt) -> list[Branch]:
    """The backends of the first hop that get requests."""
    return [branch for branch in attempt.branches if branch.share and not branch.status]


def _share(wanted: Mapping[str, Any], attempt: Attempt) -> Iterator[str]:
    found: dict[str, float] = {}
    for branch in _branches(attempt):
        found[branch.backend] = found.get(branch.backend, 0.0) + branch.share
    for backend, share in wanted.items():
        low, high = share if isinstance(share, list) else (share - TOLERANCE, share + TOLERANCE)
        if not low <= found.get(backend, 0.0) <= high:
            yield f"{backend} gets {found.get(backend, 0.0):.3f}, wanted {share}"


def _seen(key: str, value: Any, attempt: Attempt) -> Iterator[str]:
    branches = _branches(attempt)
    if not branches or not isinstance(attempt.answer, Hop):
        yield f"{key}: no backend gets it, status {attempt.status}"
        return
    for branch in branches:
        if key == "backend" and branch.backend != value:
            yield f"backend is {branch.backend}, wanted {value}"
        if key == "hostHeader" and branch.host != value:
            yield f"Host is {branch.host}, wanted {value}"
        if key == "path" and attempt.answer.path != value:
            yield f"path is {attempt.answer.path}, wanted {value}"
        if key in ("headers", "headersIn"):
            yield from _headers(value, branch.headers)


def _headers(wanted: Mapping[str, Any], found: Mapping[str, str]) -> Iterator[str]:
    for name, value in wanted.items():
        allowed = value if isinstance(value, list) else [value]
        got = found.get(name.lower())
        if got not in [str(item) for item in allowed]:
            yield f"header {name} is {got!r}, wanted {value!r}"
