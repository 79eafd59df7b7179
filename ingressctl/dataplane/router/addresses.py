"""Where a step is called, made of its URL once, and where a redirect leads."""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

from ingressctl.dataplane.router.ports import Target

H2C = frozenset({"kubernetes.io/h2c", "h2c"})
_PORTS = {"http": 80, "https": 443}


class BadUrl(ValueError):
    """A URL that cannot be called. One sentence."""


def target(url: str, *, path: str = "", protocol: str = "") -> Target:
    """The target of a URL, with another path if one is given. Raises BadUrl."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadUrl("its URL does not parse") from None
    if parts.scheme not in _PORTS:
        raise BadUrl(f"its URL has the unsupported scheme {parts.scheme!r}")
    if not parts.hostname:
        raise BadUrl("its URL has no host")
    return Target(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        path=_path(path or parts.path, "" if path else parts.query),
        authority=parts.netloc.rpartition("@")[2].encode("idna" if _is_foreign(url) else "ascii"),
        tls=parts.scheme == "https",
        h2c=protocol in H2C,
    )


def _is_foreign(url: str) -> bool:
    return not url.isascii()


def _path(path: str, query: str) -> bytes:
    """The target of the request line; what cannot stand there is escaped."""
    whole = f"{path}?{query}" if query else path
    if not whole.startswith("/"):
        whole = f"/{whole}"
    return quote(whole, safe="/?:@!$&'()*+,;=%-._~[]|^").encode()


def redirected(url: str, location: str) -> str:
    """The URL that a Location asks for."""
    return urljoin(url, location)
