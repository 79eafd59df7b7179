"""Regular expressions and small matches that the reference uses verbatim.

spec/kserve-ingress.md 4: "regular expressions (used verbatim)".
"""

from __future__ import annotations

from ingressctl.core.model import HeaderMatch, Match, PathMatch, Rule, SetHeaders
from ingressctl.core.values import replace
from ingressctl.core.world import Reads

EXPLAIN = r"^/v1/models/[\w-]+:explain$"
EXPLAIN_ANY_NAME = r"^/(v1/models/.+:|v2/models/.+/)explain$"
PATH_EXPLAIN = r"(/v1/models/[\w-]+:explain)$"
PATH_EXPLAIN_ANY_NAME = r"(/(?:v1/models/.+:|v2/models/.+/)explain)$"
GRPC_PATH = r"^/inference\.GRPCInferenceService/.*$"
GRPC_CONTENT_TYPE = "^application/grpc.*"
GRPC_CONTENT_TYPES = ("application/grpc", "application/grpc+proto", "application/grpc+json")


def explain_paths(model: str, reads: Reads) -> tuple[str, ...]:
    """The paths of explain requests for one model, where no expression may be used."""
    first = f"/v1/models/{model}:explain"
    return (first, f"/v2/models/{model}/explain") if reads.differs("Q19") else (first,)


def explain(reads: Reads) -> tuple[Match, ...]:
    """Requests for an explanation on a host of the service."""
    pattern = EXPLAIN_ANY_NAME if reads.differs("Q19") else EXPLAIN
    return (Match(PathMatch("regex", pattern)),)


def path_explain(path: str, reads: Reads) -> str:
    """The expression of an explain request below a rendered path; group 1 is the rest."""
    return path + (PATH_EXPLAIN_ANY_NAME if reads.differs("Q19") else PATH_EXPLAIN)


def grpc(reads: Reads) -> tuple[Match, ...]:
    """GRPC requests: by path and content type, with F26 by content type alone."""
    content_type = HeaderMatch("content-type", "regex", GRPC_CONTENT_TYPE)
    if reads.differs("F26"):
        return (Match(headers=(content_type,)),)
    return (Match(PathMatch("regex", GRPC_PATH), (content_type,)),)


def grpc_exact() -> tuple[Match, ...]:
    """GRPC requests for a gateway without expressions: by the content types in use."""
    return tuple(
        Match(headers=(HeaderMatch("content-type", "exact", value),))
        for value in GRPC_CONTENT_TYPES
    )


def service_headers(name: str, namespace: str) -> SetHeaders:
    """The headers that tell a model server which service it answers for."""
    return SetHeaders((("KServe-Isvc-Name", name), ("KServe-Isvc-Namespace", namespace)))


def with_public_host(rule: Rule, host: str) -> Rule:
    """The rule with one more request header: the host that clients use (F119)."""
    told = ("X-Forwarded-Host", host)
    filters = tuple(
        SetHeaders((*item.headers, told), item.remove) if isinstance(item, SetHeaders) else item
        for item in rule.filters
    )
    return replace(rule, filters=filters)
