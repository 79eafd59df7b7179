"""A route with everything a provider may be asked for, for provider tests."""

from __future__ import annotations

from ingressctl.api.refs import Owner, Raw, Ref
from ingressctl.core.model import (
    ANY,
    Entry,
    Group,
    Host,
    Match,
    PathMatch,
    RewritePath,
    Route,
    Rule,
    Service,
    SetHeaders,
    Split,
)
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World

REF = Ref("serving.kserve.io", "InferenceService", "team-a", "iris")
OWNER = Owner(REF, "u-1", "serving.kserve.io/v1beta1")
HEADERS = SetHeaders((("KServe-Isvc-Name", "iris"), ("KServe-Isvc-Namespace", "team-a")))
GATEWAY = (Entry("gateway", "kserve/kserve-ingress-gateway"),)


def split(name: str, weight: int | None = None, port: int = 80) -> Split:
    return Split(Service("team-a", name), port, weight)


EXPLAIN = Rule(
    "explain",
    (split("iris-explainer"),),
    (Match(PathMatch("regex", r"^/v1/models/[\w-]+:explain$")),),
    (HEADERS,),
    "60s",
)
PREDICT = Rule(
    "predict", (split("iris-predictor", 80), split("iris-v2-predictor", 20)), ANY, (HEADERS,), "30s"
)
BELOW = Rule(
    "path",
    (split("iris-predictor"),),
    (Match(PathMatch("prefix", "/serving/team-a/iris")),),
    (RewritePath("prefix", "/"), HEADERS),
    "60s",
)

ROUTE = Route(
    REF,
    OWNER,
    (
        Group(
            (Host("iris-team-a.example.com"), Host("iris.other.org", origin="additional")),
            GATEWAY,
            (EXPLAIN, PREDICT),
        ),
        Group((Host("example.com", origin="shared"),), GATEWAY, (BELOW,), "path"),
    ),
    labels=(("team", "a"),),
    annotations=(("note", "yes: 1"),),
)


def service(name: str, *, port: int = 80, target: int = 8080) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"ports": [{"port": port, "targetPort": target}]},
    }


def reads(*objects: Raw) -> Reads:
    return Reads(World.of(objects), Settings(), providers={})
