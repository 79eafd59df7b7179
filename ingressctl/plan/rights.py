"""What the controller may do in a cluster: one table, from which the chart's roles are made.

A rule says which verbs on which resource, and under which features of an installation it is
needed at all: a provider, a part that is ours to write, Knative. What is watched follows from
the same table, so nothing is asked for without a right, and no right is held without use:
tests compare it with what reconciles look at and write.

Objects are written by server-side apply, which needs create and patch, never update.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ingressctl.core.settings import Part
from ingressctl.core.world import Kind
from ingressctl.plan import kinds

Place = Literal["everywhere", "config", "knative", "own"]
"""Where a role holds: where models are, or in one namespace of the configuration."""

Feature = str
"""``workloads``, ``knative``, ``provider:NAME`` ...: what an installation does."""

READ = ("get", "list", "watch")
WRITE = ("create", "patch", "delete")

LEASE = "ingressctl-controller"
CERTIFICATES = "ingressctl-xds-certificates"
XDS_SERVICE = "ingressctl-xds"
"""The Service that proxies connect to; the certificate of our side is for its name."""

WRITES: Feature = "writes"
"""Anything at all is written; a dry run does without."""
ROUTES: Feature = "routes"
WORKLOADS: Feature = "workloads"
KNATIVE: Feature = "knative"
LEADER: Feature = "leader"
XDS = "provider:envoy"


class Writer(Protocol):
    """What is to be known of a provider."""

    @property
    def name(self) -> str:
        """As configuration names it."""
        ...

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it writes."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """Verbs on one resource; `when` are features that it needs beside those of its role."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    when: tuple[Feature, ...] = ()
    names: tuple[str, ...] = ()
    namespaced: bool = True


@dataclass(frozen=True, slots=True)
class Role:
    """Rules that are granted together: a ClusterRole, or a Role in one namespace."""

    name: str
    place: Place
    rules: tuple[Rule, ...]
    when: tuple[Feature, ...] = ()


LOOKED_AT: Mapping[str, tuple[Kind, ...]] = {
    "envoy": (("discovery.k8s.io", "EndpointSlice"),),
    "gateway_api": (("gateway.networking.k8s.io", "ReferenceGrant"),),
    "ingress": (("networking.k8s.io", "IngressClass"),),
}
"""Kinds that a provider looks at beside those it writes."""

ALSO: Mapping[Kind, tuple[tuple[str, tuple[str, ...]], ...]] = {
    # OpenShift asks for this right when a Route names its host, as ours do.
    ("route.openshift.io", "Route"): (("routes/custom-host", ("create", "update")),),
}
"""Further resources and verbs that writing a kind takes."""

_SERVICE: Kind = ("", "Service")
_DEPLOYMENT: Kind = ("apps", "Deployment")
_KNATIVE_SERVICE: Kind = ("serving.knative.dev", "Service")
_CONFIG_MAP: Kind = ("", "ConfigMap")
_GRAPH: Kind = (kinds.KSERVE, "InferenceGraph")
_HPA: Kind = ("autoscaling", "HorizontalPodAutoscaler")
_SCALED_OBJECT: Kind = ("keda.sh", "ScaledObject")


def _read(kind: Kind, *when: Feature) -> Rule:
    """A kind is kept in the picture of the cluster."""
    resource = kinds.BY_IDENTITY[kind]
    return Rule(resource.group, resource.plural, READ, tuple(when), namespaced=resource.namespaced)


def _write(kind: Kind, *when: Feature) -> Rule:
    """Objects of a kind are made, changed and removed."""
    return replace(_read(kind), verbs=WRITE, when=(WRITES, *when))


BASE = Role(
    "base",
    "everywhere",
    (
        _read(kinds.INFERENCE_SERVICE),
        Rule(kinds.KSERVE, "inferenceservices/status", ("patch",), (WRITES,)),
        # Objects with blockOwnerDeletion may only be made by who may finalize their owner.
        Rule(kinds.KSERVE, "inferenceservices/finalizers", ("update",), (WRITES,)),
        _read(_GRAPH),
        Rule(kinds.KSERVE, "inferencegraphs/status", ("patch",), (WRITES,)),
        Rule(kinds.KSERVE, "inferencegraphs/finalizers", ("update",), (WRITES,)),
        _read((kinds.KSERVE, "ServingRuntime")),
        _read((kinds.KSERVE, "ClusterServingRuntime")),
        _read(_SERVICE),
        _read(_DEPLOYMENT),
        _read(_KNATIVE_SERVICE, KNATIVE),
        Rule("events.k8s.io", "events", ("create",), (WRITES,)),
    ),
)
"""What every installation needs."""

COMPONENTS = Role(
    "workloads",
    "everywhere",
    (
        _write(_SERVICE),
        _write(_DEPLOYMENT),
        _write(_KNATIVE_SERVICE, KNATIVE),
        _read(_HPA),
        _write(_HPA),
        _read(_SCALED_OBJECT),
        _write(_SCALED_OBJECT),
        # The graph of a router: written and never read, for all others are nobody's business.
        _write(_CONFIG_MAP),
    ),
    (WORKLOADS,),
)
"""The components of services and the routers of graphs, where no KServe makes them."""

CONFIGURATION = (
    Role("configuration", "config", (_read(_CONFIG_MAP),)),
    Role("knative-configuration", "knative", (_read(_CONFIG_MAP),), (KNATIVE,)),
)
"""ConfigMaps are read in these two namespaces and nowhere else."""

OWN = (
    Role(
        "leader",
        "own",
        (
            Rule("coordination.k8s.io", "leases", ("create",)),  # a new object has no name yet
            Rule("coordination.k8s.io", "leases", ("get", "update"), names=(LEASE,)),
        ),
        (LEADER, WRITES),
    ),
    Role(
        "certificates",
        "own",
        (
            Rule("", "secrets", ("create",), (WRITES,)),
            Rule("", "secrets", ("get",), names=(CERTIFICATES,)),
            Rule("", "secrets", ("patch",), (WRITES,), names=(CERTIFICATES,)),
        ),
        (XDS, WRITES, ROUTES),
    ),
)
"""What replicas agree on among themselves."""


def of_provider(provider: Writer) -> Role:
    """One provider's role: its kinds, and what else it looks at.

    Raises KeyError for a kind that is not in the table of kinds.
    """
    written = [rule for kind in provider.kinds for rule in _writing(kind)]
    looked_at = (*provider.kinds, *LOOKED_AT.get(provider.name, ()))
    read = [_read(kind) for kind in looked_at if kind != _SERVICE]  # the base reads Services
    return Role(
        f"provider-{provider.name.replace('_', '-')}",
        "everywhere",
        (*read, *written),
        (feature_of(provider.name),),
    )


def _writing(kind: Kind) -> Iterator[Rule]:
    """All that writing routes of a kind takes."""
    rule = _write(kind, ROUTES)
    yield rule
    for resource, verbs in ALSO.get(kind, ()):
        yield replace(rule, resource=resource, verbs=verbs)


def feature_of(provider: str) -> Feature:
    """The feature of an installation that has this provider."""
    return f"provider:{provider}"


def roles(providers: Iterable[Writer]) -> tuple[Role, ...]:
    """Every role that an installation with some of these providers may have."""
    of_providers = (of_provider(item) for item in sorted(providers, key=lambda item: item.name))
    return (BASE, COMPONENTS, *of_providers, *CONFIGURATION, *OWN)


def features(
    *,
    providers: Iterable[str],
    write: frozenset[Part],
    knative: bool,
    dry_run: bool = False,
    leader: bool = True,
) -> frozenset[Feature]:
    """What an installation does, by the settings of its `run`."""
    chosen = {KNATIVE: knative, WRITES: not dry_run, LEADER: leader}
    on = (feature for feature, is_on in chosen.items() if is_on)
    return frozenset((*on, *write, *map(feature_of, providers)))


def granted(given: Iterable[Role], features: Iterable[Feature]) -> tuple[Role, ...]:
    """The roles that these features need, with the rules that they need; empty ones left out."""
    on = frozenset(features)
    return tuple(
        replace(role, rules=rules)
        for role in given
        if on.issuperset(role.when)
        and (rules := tuple(rule for rule in role.rules if on.issuperset(rule.when)))
    )


def watched(
    given: Iterable[Role], features: Iterable[Feature]
) -> tuple[tuple[kinds.Resource, Place], ...]:
    """What is kept in the picture of the cluster under these features, and where from."""
    by_plural = {(item.group, item.plural): item for item in kinds.RESOURCES}
    found = (
        (by_plural[rule.group, rule.resource], role.place)
        for role in granted(given, features)
        for rule in role.rules
        if "watch" in rule.verbs
    )
    return tuple(dict.fromkeys(found))


def document(given: Iterable[Role]) -> dict[str, Any]:
    """The table as the chart holds it: its templates only choose and wrap."""
    return {"roles": [_role(role) for role in given]}


def _role(role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "place": role.place,
        "when": list(role.when),
        "blocks": [
            {"when": list(when), "namespaced": namespaced, "rules": rules}
            for (when, namespaced), rules in _blocks(role.rules).items()
        ],
    }


def _blocks(rules: Iterable[Rule]) -> Mapping[tuple[tuple[Feature, ...], bool], list[Any]]:
    """Rules of one condition and scope together, each in the API's own form."""
    found: dict[tuple[tuple[Feature, ...], bool], list[Any]] = {}
    for rule in rules:
        found.setdefault((rule.when, rule.namespaced), []).append(_rule(rule))
    return found


def _rule(rule: Rule) -> dict[str, Any]:
    names = {"resourceNames": list(rule.names)} if rule.names else {}
    return {
        "apiGroups": [rule.group],
        "resources": [rule.resource],
        **names,
        "verbs": list(rule.verbs),
    }
