"""Where an object may have been served so far: the hosts of its status, and of its claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.picture import Picture


def hosts(obj: Raw, picture: Picture, cluster_domain: str) -> frozenset[str]:
    """In lower case: those in URLs of the status and those that the object claims, but for
    hosts that are somebody else's by now. Whoever tells no URL has never been served."""
    told = frozenset(filter(None, map(_host, _urls(obj.get("status")))))
    if not told:
        return told
    rightful = picture.rightful(ref_of(obj), told)
    return frozenset(name for host in rightful for name in _names(host, cluster_domain))


def _urls(value: Any) -> Iterator[str]:
    """Every field whose name ends in url, at any depth: url, restUrl, grpcUrl, address.url."""
    if isinstance(value, Mapping):
        for key, found in value.items():
            if isinstance(found, str) and str(key).lower().endswith("url"):
                yield found
            yield from _urls(found)
    elif isinstance(value, list | tuple):
        for found in value:
            yield from _urls(found)


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # a status may hold anything
        return ""
    return (parts.hostname or "").rstrip(".") if parts.scheme in ("http", "https") else ""


def _names(host: str, cluster_domain: str) -> tuple[str, ...]:
    """A host, and the short forms of one inside the cluster."""
    base = host.removesuffix(f".svc.{cluster_domain}")
    return (host,) if base == host else (host, f"{base}.svc", base)
