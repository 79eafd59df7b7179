"""URLs of steps: which can be called, and the one name that a host has on the wire.

A host may be written in capitals, in letters outside of ASCII or with a dot at its end; DNS
and the Host header know it by its IDNA name. What has none can never be called.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

PORTS = {"http": 80, "https": 443}


class BadUrl(ValueError):
    """A URL that cannot be called. What is wrong, beginning with "it"."""


class Place(NamedTuple):
    """What a URL says. `authority` is host and port as the Host header has them."""

    scheme: str
    host: str
    port: int
    authority: bytes
    path: str
    query: str


def read(url: str) -> Place:
    """The parts of a URL. Raises BadUrl."""
    try:
        parts = urlsplit(url)
        port = parts.port
        url.encode()
    except ValueError as error:
        raise BadUrl(f"it is not a URL ({error})") from None
    if parts.scheme not in PORTS:
        raise BadUrl("its scheme is neither http nor https")
    if not parts.hostname:
        raise BadUrl("it has no host")
    if port == 0:
        raise BadUrl("its port is 0")
    _check_escapes(parts)
    host = _wire_name(parts.hostname)
    authority = parts.netloc.rpartition("@")[2]
    if not authority.isascii():
        authority = host if port is None else f"{host}:{port}"
    default = PORTS[parts.scheme]
    return Place(parts.scheme, host, port or default, authority.encode(), parts.path, parts.query)


def host_of(url: str) -> str:
    """The host of a URL, the same for all spellings of it; "" if it cannot be called."""
    try:
        return read(url).host.lower().removesuffix(".")
    except BadUrl:
        return ""


_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


def _check_escapes(parts: SplitResult) -> None:
    """A percent sign begins an escape, but for the query, which nobody decodes. Raises BadUrl."""
    for part in (parts.netloc, parts.path, parts.fragment):
        if found := _ESCAPE.search(part):
            raise BadUrl(f"it has {found[0]!r} in it, which is no escape")


def _wire_name(host: str) -> str:
    """Raises BadUrl for empty and long labels, and letters that no name may have."""
    try:
        name = host.encode("idna").decode()
    except UnicodeError as error:
        reason = str(error).rpartition("UnicodeError: ")[2].rstrip(")")
        raise BadUrl(f"its host {host!r} is no name ({reason})") from None
    if any(letter <= " " or letter == "\x7f" for letter in name):
        raise BadUrl(f"its host {host!r} is no name (it has spaces in it)")
    return name
