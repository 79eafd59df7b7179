"""VirtualServices as Istio merges them at a gateway, as far as conflicts need it.

Istio serves a host from the most specific host list of a gateway, and puts the rules of
VirtualServices with the same host one after the other, the older object first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import table
from ingressctl.plan.checks.picture import VIRTUAL_SERVICE, Picture, created, spec_of

MESH = "mesh"


@dataclass(frozen=True, slots=True)
class Rule:
    """What one http route says for one host at one gateway: `uris` () means every path."""

    uris: tuple[tuple[str, str], ...]
    limited: bool
    """Headers, methods or parameters narrow it further."""
    target: str

    @property
    def takes_all(self) -> bool:
        """Whether every request of the host matches."""
        return not self.limited and (not self.uris or ("prefix", "/") in self.uris)


@dataclass(frozen=True, slots=True)
class Listed:
    """One VirtualService under one host at one gateway, which it names in its own way."""

    ref: Ref
    age: tuple[bool, str, str, str]
    gateway: str
    host: str
    named: str
    obj: Raw

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Its rules for this host and gateway; expressions are tried, so ask seldom."""
        return tuple(_rules(self.obj, self.host, self.named))


def listed(picture: Picture) -> Iterator[Listed]:
    """Every VirtualService under each of its hosts at each of its gateways."""
    for ref, obj in picture.objects(VIRTUAL_SERVICE):
        spec = spec_of(obj)
        for gateway in spec.get("gateways") or [MESH]:
            place = full_name(str(gateway), ref.namespace)
            for host in spec.get("hosts") or ():
                yield Listed(ref, created(obj), place, str(host), str(gateway), obj)


def full_name(gateway: str, namespace: str) -> str:
    """``namespace/name`` of a gateway; mesh stays as it is."""
    return gateway if gateway == MESH or "/" in gateway else f"{namespace}/{gateway}"


def _rules(obj: Raw, host: str, gateway: str) -> Iterator[Rule]:
    for http in spec_of(obj).get("http") or ():
        matches = http.get("match") or [{}]
        fitting = [match for match in matches if _fits(match, host, gateway)]
        for match in fitting:
            limited = bool({"headers", "method", "queryParams", "port"} & set(match))
            yield Rule(tuple(_uris(match)), limited, _target(http))


def _fits(match: Mapping[str, Any], host: str, gateway: str) -> bool:
    gateways = match.get("gateways")
    if gateways and gateway not in gateways:
        return False
    authority: Mapping[str, str] = match.get("authority") or {}
    if not authority or "*" in host:
        return True
    if "exact" in authority:
        return authority["exact"] == host
    if "prefix" in authority:
        return host.startswith(authority["prefix"])
    try:
        return re.fullmatch(authority.get("regex", ""), host) is not None
    except re.error:
        return False


def _uris(match: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, value in (match.get("uri") or {}).items():
        yield str(kind), str(value)


def _target(http: Mapping[str, Any]) -> str:
    host = ((http.get("headers") or {}).get("request") or {}).get("set") or {}
    routes = [
        str((route.get("destination") or {}).get("host")) for route in http.get("route") or ()
    ]
    return " ".join([str(host.get("Host") or ""), *routes])


def covers(wildcard: str, host: str) -> bool:
    """Whether a host list entry with a star takes a more specific host."""
    return "*" in wildcard and wildcard != host and table.host_matches(wildcard, host)
