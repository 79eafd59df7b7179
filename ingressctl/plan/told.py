"""Where an object was served, by its own word: the hosts in the URLs of its status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ingressctl.api.refs import Raw


def hosts(obj: Raw) -> frozenset[str]:
    """The hosts, in lower case, of an object's own address and of those of its parts."""
    return frozenset(filter(None, map(_host, _urls(obj.get("status")))))


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
        return urlsplit(url).hostname or ""
    except ValueError:  # a status may hold anything
        return ""
