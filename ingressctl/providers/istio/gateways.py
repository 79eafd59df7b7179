"""Which hosts an Istio Gateway admits, and on which ports.

A server's host is ``namespace/host``: the namespace of the VirtualServices it is for (``*``
any, ``.`` the Gateway's own). Servers that pass TLS or TCP through serve no http routes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.table import host_matches
from ingressctl.core.world import Kind, Reads

GATEWAY: Kind = ("networking.istio.io", "Gateway")
MESH = "mesh"

_PLAIN = frozenset({"HTTP", "HTTP2", "GRPC", "GRPC-WEB"})


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a Gateway that serves http routes. `port` 0: nothing is known of it."""

    port: int
    scheme: Literal["", "http", "https"]
    hosts: tuple[tuple[str, str], ...]
    redirects: bool = False

    def admits(self, host: str, namespace: str) -> bool:
        """Whether a VirtualService of that namespace may use the host here."""
        return any(
            space in ("*", namespace) and overlap(pattern, host) for space, pattern in self.hosts
        )


ANYTHING = (Server(0, "", (("*", "*"),)),)
"""The servers of a Gateway that is not in the world."""


def find(name: str, reads: Reads) -> Raw | None:
    """The Gateway ``namespace/name``, or None."""
    namespace, _, bare = name.rpartition("/")
    return reads.get(Ref(*GATEWAY, namespace, bare))


def pods(gateway: Raw) -> str:
    """The pods that a Gateway is for, by its selector; "" if it has none."""
    selector = (gateway.get("spec") or {}).get("selector") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))


def servers(gateway: Raw) -> tuple[Server, ...]:
    """The servers for http routes, plain ones first, then by port."""
    namespace = gateway["metadata"].get("namespace") or ""
    listed = (gateway.get("spec") or {}).get("servers") or ()
    found = [server for raw in listed for server in _server(raw, namespace)]
    return tuple(sorted(found, key=lambda server: (server.scheme, server.port)))


def _server(raw: dict[str, Any], namespace: str) -> Iterator[Server]:
    port = raw.get("port") or {}
    protocol = str(port.get("protocol") or "").upper()
    tls = raw.get("tls") or {}
    terminates = protocol == "HTTPS" and tls.get("mode") not in ("PASSTHROUGH", "AUTO_PASSTHROUGH")
    if protocol not in _PLAIN and not terminates:
        return
    hosts = tuple(_host(str(host), namespace) for host in raw.get("hosts") or ())
    scheme: Literal["http", "https"] = "https" if terminates else "http"
    yield Server(int(port.get("number") or 0), scheme, hosts, bool(tls.get("httpsRedirect")))


def _host(text: str, namespace: str) -> tuple[str, str]:
    space, slash, host = text.rpartition("/")
    return (namespace if space == "." else space if slash else "*", host.lower())


def overlap(pattern: str, host: str) -> bool:
    """Whether two host patterns meet, whichever of them is the wider one."""
    bare, other = pattern.removeprefix("*."), host.removeprefix("*.")
    if pattern.startswith("*.") and host.startswith("*."):
        return bare == other or bare.endswith("." + other) or other.endswith("." + bare)
    return host_matches(pattern, host) or host_matches(host, pattern)


def full_name(gateway: str, namespace: str) -> str:
    """A gateway as a VirtualService names it, as ``namespace/name`` or ``mesh``."""
    if gateway == MESH or "/" in gateway:
        return gateway
    name, _, rest = gateway.partition(".")
    return f"{rest.partition('.')[0] or namespace}/{name}"
