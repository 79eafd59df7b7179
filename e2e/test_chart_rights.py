"""The account of a release may do what the table of rights says, in each place, and no more."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import charts
from e2e.bed.bed import Bed
from ingressctl.core.settings import Settings
from ingressctl.plan import rights

PARTS = ()
"""Nothing here is of a kind that CRDs bring."""


@pytest.fixture(autouse=True, scope="module")
def _helm_is_here() -> None:
    charts.need_helm()


@pytest.fixture(scope="module")
def cluster(bed: Bed) -> Bed:
    """A cluster with the namespaces that a release needs."""
    charts.make_namespaces(bed)
    return bed


Held = frozenset[tuple[str, str, str, str]]
"""Group, resource, verb and name of what an account may do ("" for every name)."""


def may(cluster: Bed, values: Mapping[str, Any], namespace: str) -> Held:
    """What the release's account may do in a namespace beyond what any account may."""
    objects = charts.rendered(values)
    kinds = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    roles = yaml.safe_dump_all(obj for obj in objects if obj["kind"] in kinds)
    account = cluster.account(charts.NAMESPACE, "ingressctl")
    nobody = cluster.account("elsewhere", "nobody")
    cluster.apply(roles)
    try:
        return rules(cluster, account, namespace) - rules(cluster, nobody, namespace)
    finally:
        cluster.kubectl("delete", "-f", "-", stdin=roles)


def rules(cluster: Bed, account: Path, namespace: str) -> Held:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    text = cluster.kubectl_as(account)(
        "create", "--validate=false", "-f=-", "-o=json", stdin=json.dumps(review)
    )
    return frozenset(
        found
        for rule in json.loads(text)["status"]["resourceRules"]
        for found in itertools.product(
            rule["apiGroups"], rule["resources"], rule["verbs"], rule.get("resourceNames") or [""]
        )
    )


def table(values: Mapping[str, Any], namespace: str) -> Held:
    """What the table of rights says of the same account."""
    features = rights.features(
        providers=values.get("providers", ["istio"]),
        write=frozenset(values.get("write", ["routes"])),
        knative=values.get("knative", {}).get("enabled", True),
        dry_run=values.get("dryRun", False),
        leader=values.get("leaderElection", True),
    )
    within = values.get("namespaces")
    places = {"own": charts.NAMESPACE, "config": "kserve", "knative": Settings().knative_namespace}
    return frozenset(
        (rule.group, rule.resource, verb, name)
        for role in rights.granted(rights.roles(charts.PROVIDERS.values()), features)
        for rule in role.rules
        if holds(role, rule, places, within, namespace, values)
        for verb in rule.verbs
        for name in rule.names or ("",)
    )


def holds(
    role: rights.Role,
    rule: rights.Rule,
    places: Mapping[str, str],
    within: list[str] | None,
    namespace: str,
    values: Mapping[str, Any],
) -> bool:
    if role.place != "everywhere":
        return places[role.place] == namespace
    if within is None:
        return True
    return namespace in within if rule.namespaced else values.get("clusterScopedReads", True)


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("shipped", "team-a"),
        ("shipped", charts.NAMESPACE),
        ("shipped", "kserve"),
        ("envoy", charts.NAMESPACE),
        ("workloads", "team-a"),
        ("workloads without knative", "knative-serving"),
        ("dry run", "team-a"),
        ("alone", charts.NAMESPACE),
        ("namespaced", "team-b"),
        ("namespaced", "elsewhere"),
        ("within namespaces only", "team-a"),
        ("within namespaces only", "elsewhere"),
        ("namespaced", "knative-serving"),
    ],
)
def test_the_account_may_what_the_table_says(cluster: Bed, name: str, namespace: str) -> None:
    """Asked of the API server's own authorizer, with the account's token."""
    assert may(cluster, charts.SETS[name], namespace) == table(charts.SETS[name], namespace)
