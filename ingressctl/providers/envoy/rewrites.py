"""Path rewrites: what core.rewriting says, in the two ways that Envoy has.

Envoy replaces a prefix by text, or an expression wherever it matches. Neither knows of
elements, so which of the two is taken depends on slashes.
"""

from __future__ import annotations

import re

from envoy.config.route.v3 import route_components_pb2 as components

from ingressctl.core.model import PathMatch, RewritePath


def put(action: components.RouteAction, rewrite: RewritePath, path: PathMatch | None) -> None:
    """A rewrite by text or expression, so that elements stay apart whatever the slashes.

    Envoy's own prefix rewrite joins texts: /a to / would make //b of /a/b.
    """
    value, bare = rewrite.value, rewrite.value.rstrip("/")
    if rewrite.kind == "regex":
        _substitute(action, rewrite.pattern, value)
    elif rewrite.kind == "full" or path is None:
        _substitute(action, "^/.*$", _literal(value))
    elif path.kind == "regex":
        _rewrite_all(action, value)
    elif path.kind == "exact":
        tail = path.value[len(path.value.rstrip("/")) :]
        _substitute(action, "^/.*$", _literal(bare + tail if tail else value or "/"))
    else:
        _rewrite_prefix(action, path.value.rstrip("/"), value)


def _rewrite_all(action: components.RouteAction, value: str) -> None:
    """The whole path, of which final slashes are kept."""
    if value.endswith("/"):
        _substitute(action, "^/.*$", _literal(value))
    else:
        _substitute(action, "^/.*?(/*)$", _literal(value) + r"\1")


def _rewrite_prefix(action: components.RouteAction, prefix: str, value: str) -> None:
    if not prefix:
        action.prefix_rewrite = value.rstrip("/") + "/"
    elif value.endswith("/"):
        _substitute(action, f"^{re.escape(prefix)}/?", _literal(value))
    elif value:
        action.prefix_rewrite = value
    else:
        _rewrite_prefix(action, prefix, "/")


def _substitute(action: components.RouteAction, pattern: str, value: str) -> None:
    action.regex_rewrite.pattern.regex = pattern
    action.regex_rewrite.substitution = value


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\")
