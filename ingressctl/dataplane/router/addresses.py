"""Where a step is called, made of its URL once, and where a redirect leads."""

from __future__ import annotations

from urllib.parse import quote, urljoin

from ingressctl.api import urls
from ingressctl.dataplane.router.ports import Target

H2C = frozenset({"kubernetes.io/h2c", "h2c"})


class BadUrl(ValueError):
    """A URL that cannot be called. One sentence."""


def target(url: str, *, path: str = "", protocol: str = "") -> Target:
    """The target of a URL, with another path if one is given. Raises BadUrl."""
    try:
        place = urls.read(url)
    except urls.BadUrl as error:
        raise BadUrl(f"its URL cannot be called: {error}") from None
    return Target(
        host=place.host,
        port=place.port,
        path=_path(path or place.path, "" if path else place.query),
        authority=place.authority,
        tls=place.scheme == "https",
        h2c=protocol in H2C,
    )


def _path(path: str, query: str) -> bytes:
    """The target of the request line; what cannot stand there is escaped."""
    whole = f"{path}?{query}" if query else path
    if not whole.startswith("/"):
        whole = f"/{whole}"
    return quote(whole, safe="/?:@!$&'()*+,;=%-._~[]|^").encode()


def redirected(url: str, location: str) -> str:
    """The URL that a Location asks for; one that does not parse stays what it is."""
    try:
        return urljoin(url, location)
    except ValueError:
        return location
