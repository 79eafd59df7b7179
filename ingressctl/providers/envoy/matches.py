"""Matches of the model to Envoy's: paths by element, headers in lower case."""

from __future__ import annotations

from envoy.config.route.v3 import route_components_pb2 as components
from envoy.type.matcher.v3 import regex_pb2, string_pb2

from ingressctl.core.model import HeaderMatch, Match, PathMatch


def make(match: Match) -> components.RouteMatch:
    """What must hold of a request, all of it."""
    matcher = _path(match.path)
    matcher.headers.extend(_header(header) for header in match.headers)
    if match.method:
        matcher.headers.append(_header(HeaderMatch(":method", "exact", match.method)))
    return matcher


def _path(path: PathMatch | None) -> components.RouteMatch:
    if path is None:
        return components.RouteMatch(prefix="/")
    if path.kind == "exact":
        return components.RouteMatch(path=path.value)
    if path.kind == "regex":
        return components.RouteMatch(safe_regex=regex_pb2.RegexMatcher(regex=path.value))
    bare = path.value.rstrip("/")
    if not bare:
        return components.RouteMatch(prefix="/")
    return components.RouteMatch(path_separated_prefix=bare)


def _header(header: HeaderMatch) -> components.HeaderMatcher:
    name = header.name.lower()
    if header.kind == "present":
        return components.HeaderMatcher(name=name, present_match=True)
    texts = {
        "exact": string_pb2.StringMatcher(exact=header.value),
        "prefix": string_pb2.StringMatcher(prefix=header.value),
        "regex": string_pb2.StringMatcher(safe_regex=regex_pb2.RegexMatcher(regex=header.value)),
    }
    return components.HeaderMatcher(name=name, string_match=texts[header.kind])
