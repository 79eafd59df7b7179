"""What a rule's filters make of a request: the host, path and headers the backend sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ingressctl.api import re2
from ingressctl.core.model import Filter, RewriteHost, RewritePath, SetHeaders

if TYPE_CHECKING:
    from ingressctl.core.table import Request, TableMatch

_DOTS = re.compile(r"/(?:\.|%2[eE]){1,2}(?:/|$)")


def normalised(path: str) -> str:
    """The path without ``.`` and ``..`` elements, as gateways forward it."""
    if not _DOTS.search(path):
        return path
    kept: list[str] = []
    elements = path.split("/")[1:]
    for place, element in enumerate(elements):
        plain = re.sub("%2e", ".", element, flags=re.IGNORECASE)
        if plain not in (".", ".."):
            kept.append(element)
            continue
        if plain == "..":
            del kept[-1:]
        if place == len(elements) - 1:
            kept.append("")
    return "/" + "/".join(kept)


def apply(
    request: Request, filters: tuple[Filter, ...], won: TableMatch | None
) -> tuple[str, str, Mapping[str, str]]:
    """Host, path (with its query) and headers after the filters, in their order."""
    bare, mark, query = request.path.partition("?")
    host, path = request.host, normalised(bare) + mark + query
    headers = dict(request.headers)
    for item in filters:
        if isinstance(item, RewriteHost):
            host = item.host
        elif isinstance(item, RewritePath):
            path = rewrite_path(path, item, won)
        elif isinstance(item, SetHeaders):
            host = set_headers(headers, item, host)
    return host, path, headers


def set_headers(headers: dict[str, str], item: SetHeaders, host: str) -> str:
    """Set, add and remove headers in place; the host that results, which is a header as well."""
    for name, value in item.headers:
        if name.lower() in ("host", ":authority"):
            host = value
        else:
            headers[name.lower()] = value
    for name, value in item.add:
        before = headers.get(name.lower())
        headers[name.lower()] = value if before is None else f"{before},{value}"
    for name in item.remove:
        headers.pop(name.lower(), None)
    return host


def rewrite_path(path: str, rewrite: RewritePath, won: TableMatch | None) -> str:
    """The path after one rewrite; the query is kept."""
    bare, mark, query = path.partition("?")
    if rewrite.kind == "regex":
        return re2.replace_all(rewrite.pattern, rewrite.value, bare) + mark + query
    wanted = won.match.path if won else None
    matched = wanted.value if wanted is not None and wanted.kind != "regex" else bare
    if rewrite.kind == "full" or wanted is None:
        return rewrite.value + mark + query
    if won is not None and won.prefix == "character":
        return rewrite.value + bare[len(matched) :] + mark + query
    rest = bare[len(matched.rstrip("/")) :]
    joined = rewrite.value.rstrip("/") + rest if rest else rewrite.value
    return (joined or "/") + mark + query
