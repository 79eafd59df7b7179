"""AuthorizationPolicies on the way of a request (F105)."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import Reads, World
from ingressctl.plan import policies

ENTRY = "kubeflow/kubeflow-gateway"
GATEWAY = {
    "apiVersion": "networking.istio.io/v1",
    "kind": "Gateway",
    "metadata": {"name": "kubeflow-gateway", "namespace": "kubeflow"},
    "spec": {"selector": {"app": "istio-ingressgateway"}},
}


def policy(namespace: str, **spec: Any) -> Raw:
    return {
        "apiVersion": "security.istio.io/v1",
        "kind": "AuthorizationPolicy",
        "metadata": {"name": "p", "namespace": namespace},
        "spec": spec,
    }


def reads(*given: Raw) -> Reads:
    return Reads(World.of([GATEWAY, *given]), Settings(), providers={})


def request(**headers: str) -> Request:
    return Request("POST", "iris.team-a.example.com", "/v1/models/iris:predict", headers)


def at_gateway(given: Raw, asked: Request | None = None) -> list[str]:
    return codes(policies.at_gateway(ENTRY, asked or request(), reads=reads(given)))


def at_backend(given: Raw, asked: Request | None = None, *, knative: bool = True) -> list[str]:
    found = policies.at_backend("team-a", asked or request(), knative=knative, reads=reads(given))
    return codes(found)


def codes(found: Any) -> list[str]:
    return [finding.code for finding in found]


LOGIN = {"action": "CUSTOM", "provider": {"name": "oauth2-proxy"}}
OTHER_PODS = {"selector": {"matchLabels": {"app": "x"}}}
PODS = {"selector": {"matchLabels": {"app": "istio-ingressgateway"}}}


@pytest.mark.parametrize(
    ("spec", "namespace", "met"),
    [
        ({**LOGIN, **PODS, "rules": [{}]}, "istio-system", True),
        ({**LOGIN, "rules": [{}]}, "istio-system", True),  # the root namespace: every pod
        ({**LOGIN, "rules": [{}]}, "elsewhere", False),
        (
            {**LOGIN, "selector": {"matchLabels": {"app": "x"}}, "rules": [{}]},
            "istio-system",
            False,
        ),
        (
            {**LOGIN, **PODS, "rules": [{"to": [{"operation": {"paths": ["/admin*"]}}]}]},
            "istio-system",
            False,
        ),
        (
            {**LOGIN, **PODS, "rules": [{"to": [{"operation": {"notPaths": ["/v1/*"]}}]}]},
            "istio-system",
            False,
        ),
        (
            {**LOGIN, **PODS, "rules": [{"to": [{"operation": {"hosts": ["*.example.com"]}}]}]},
            "istio-system",
            True,
        ),
        (
            {
                **LOGIN,
                "targetRefs": [{"kind": "Gateway", "name": "kubeflow-gateway"}],
                "rules": [{}],
            },
            "kubeflow",
            True,
        ),
    ],
)
def test_a_login_in_front_of_the_gateway(spec: dict[str, Any], namespace: str, met: bool) -> None:
    assert at_gateway(policy(namespace, **spec)) == (["IC3301"] if met else [])


def test_the_login_is_named_and_never_to_be_switched_off() -> None:
    given = policy("istio-system", **LOGIN, **PODS, rules=[{}])
    finding = next(iter(policies.at_gateway(ENTRY, request(), reads=reads(given))))
    text = table.message(finding)
    assert "302" in text
    assert "oauth2-proxy" in text
    for word in ("remove", "delete", "disable", "switch"):
        assert word not in (text + table.remedy(finding)).lower()


OWNER = {"when": [{"key": "request.headers[kubeflow-userid]", "values": ["owner"]}]}
PROBES = {"from": [{"source": {"namespaces": ["knative-serving"]}}]}
PATHS = {"to": [{"operation": {"paths": ["/healthz", "/metrics"]}}]}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([OWNER], ["IC3302"]),
        ([], ["IC3302"]),  # an ALLOW policy without rules admits nobody
        ([OWNER, PROBES], ["IC3309"]),  # probes pass, the call does not
        ([OWNER, PATHS], ["IC3309"]),
        ([{}], []),
        ([{"from": [{"source": {"notNamespaces": ["evil"]}}]}], []),
        ([{"from": [{"source": {"principals": ["cluster.local/ns/knative-serving/sa/*"]}}]}],
         ["IC3309"]),
        ([{"when": [{"key": "source.ip", "values": ["10.0.0.0/8"]}]}], []),  # cannot be known
    ],
)  # fmt: skip
def test_owner_rules_of_a_namespace(rules: list[dict[str, Any]], expected: list[str]) -> None:
    assert at_backend(policy("team-a", action="ALLOW", rules=rules)) == expected


def test_the_right_header_passes_and_standard_mode_has_no_activator() -> None:
    given = policy("team-a", rules=[OWNER, PROBES])
    assert at_backend(given, request(**{"kubeflow-userid": "owner"})) == []
    assert at_backend(policy("team-a", rules=[OWNER]), knative=False) == ["IC3309"]
    assert at_backend(policy("team-b", rules=[OWNER])) == []


def test_tokens_and_denials() -> None:
    token = policy("team-a", rules=[{"from": [{"source": {"requestPrincipals": ["*"]}}]}, PROBES])
    assert at_backend(token) == ["IC3309"]
    assert at_backend(token, request(authorization="Bearer x")) == []
    denied = {"to": [{"operation": {"methods": ["POST"], "paths": ["*:predict"]}}]}
    assert at_backend(policy("team-a", action="DENY", rules=[denied])) == ["IC3309"]
    barred = {"when": [{"key": "source.ip", "values": ["10.0.0.0/8"]}]}
    assert at_backend(policy("team-a", action="DENY", rules=[barred])) == []


def test_the_finding_names_what_is_asked_for_and_who_is_refused() -> None:
    given = policy("team-a", action="ALLOW", rules=[OWNER])
    found: list[Finding] = list(
        policies.at_backend("team-a", request(), knative=True, reads=reads(given))
    )
    text = table.message(found[0])
    for word in ("kubeflow-userid owner", "activator", "autoscaler", "knative-serving"):
        assert word in text
    assert "/healthz" in table.remedy(found[0])
