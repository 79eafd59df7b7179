"""What a rule's filters make of a request: the host, path and headers the backend sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ingressctl.core.model import Filter, RewriteHost, RewritePath, SetHeaders

if TYPE_CHECKING:
    from ingressctl.core.table import Request, TableMatch


def apply(
    request: Request, filters: tuple[Filter, ...], won: TableMatch | None
) -> tuple[str, str, Mapping[str, str]]:
    """Host, path (with its query) and headers after the filters, in their order."""
    host, path = request.host, request.path
    headers = dict(request.headers)
    for item in filters:
        if isinstance(item, RewriteHost):
            host = item.host
        elif isinstance(item, RewritePath):
            path = rewrite_path(path, item, won)
        elif isinstance(item, SetHeaders):
            for name, value in item.headers:
                headers[name.lower()] = value
                host = value if name.lower() in ("host", ":authority") else host
            for name in item.remove:
                headers.pop(name.lower(), None)
    return host, path, headers


def rewrite_path(path: str, rewrite: RewritePath, won: TableMatch | None) -> str:
    """The path after one rewrite; the query is kept."""
    bare, mark, query = path.partition("?")
    if rewrite.kind == "regex":
        return re.sub(rewrite.pattern, rewrite.value, bare, count=1) + mark + query
    wanted = won.match.path if won else None
    matched = wanted.value if wanted is not None and wanted.kind != "regex" else bare
    if rewrite.kind == "full" or wanted is None:
        return rewrite.value + mark + query
    if won is not None and won.prefix == "character":
        return rewrite.value + bare[len(matched) :] + mark + query
    rest = bare[len(matched.rstrip("/")) :]
    joined = rewrite.value.rstrip("/") + rest
    return (joined or "/") + mark + query
