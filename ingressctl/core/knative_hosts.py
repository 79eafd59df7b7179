"""The host names that Knative gives to a Route and its tags (spec/knative-routing.md 6.5).

Shared by whoever has to know a component's URL before Knative has written it. Labels and
annotations are those of the Knative Service; its visibility label decides who sees it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api import dns, gotemplate, knative_configmaps
from ingressctl.api.knative_configmaps import Domain, Network
from ingressctl.api.refs import Raw, Ref
from ingressctl.core import naming
from ingressctl.core.world import Reads

VISIBILITY = "networking.knative.dev/visibility"
CLUSTER_LOCAL = "cluster-local"
ASSUMED_DOMAIN = "example.com"

_HOST_STRINGS = frozenset({"Name", "Namespace", "Domain"})
_HOST_MAPS = frozenset({"Annotations", "Labels"})
_TAG_STRINGS = frozenset({"Name", "Tag"})


def domain(labels: Mapping[str, str], *, reads: Reads) -> str:
    """The domain for these labels; the cluster's own if they say cluster-local.

    The selector with most labels wins, then the smaller name. Without any config-domain
    it is the domain of KServe's own defaults. Raises ConfigFault.
    """
    own = f"svc.{reads.settings.cluster_domain}"
    if labels.get(VISIBILITY) == CLUSTER_LOCAL:
        return own
    if _configmap("config-domain", reads) is None:
        return ASSUMED_DOMAIN
    known = knative_configmaps.parse_domains(_data("config-domain", reads))
    if all(entry.selector for entry in known):
        known = (*known, Domain(own))
    fitting = [entry for entry in known if set(entry.selector) <= labels.items()]
    return min(fitting, key=lambda entry: (-len(entry.selector), entry.name)).name


def is_local(labels: Mapping[str, str], *, reads: Reads) -> bool:
    """Whether a Route with these labels is only reached from inside. Raises ConfigFault."""
    return domain(labels, reads=reads) == f"svc.{reads.settings.cluster_domain}"


def sub_name(name: str, tag: str, *, reads: Reads) -> str:
    """The first part of a tag's host: the Route's name without a tag. Raises NameFault."""
    if not tag:
        return name
    template = network(reads).tag_template
    try:
        return gotemplate.parse(template, _TAG_STRINGS).render({"Name": name, "Tag": tag})
    except gotemplate.TemplateError as error:
        raise naming.NameFault(f"error rendering tag-template: {error}") from None


def route_host(
    name: str,
    namespace: str,
    *,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    reads: Reads,
    tag: str = "",
) -> str:
    """The host in the URL of a Route, or of one of its tags: public, or the internal one.

    Raises NameFault for a host that cannot be, ConfigFault for an unusable config-domain.
    """
    host = unchecked_host(
        name, namespace, labels=labels, annotations=annotations, reads=reads, tag=tag
    )
    fault = dns.fqdn_fault(host)
    if fault:
        raise naming.NameFault(f'invalid domain name "{host}" from domain-template: {fault}')
    return host


def unchecked_host(
    name: str,
    namespace: str,
    *,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    reads: Reads,
    tag: str = "",
) -> str:
    """As route_host, whether or not the host can be. Raises NameFault, ConfigFault."""
    base = domain(labels, reads=reads)
    local = labels.get(VISIBILITY) == CLUSTER_LOCAL
    template = knative_configmaps.DOMAIN_TEMPLATE if local else network(reads).domain_template
    return _render(
        template,
        {
            "Name": sub_name(name, tag, reads=reads),
            "Namespace": namespace,
            "Domain": base,
            "Annotations": annotations,
            "Labels": labels,
        },
    )


def local_hosts(name: str, namespace: str, *, reads: Reads, tag: str = "") -> tuple[str, str, str]:
    """The names inside the cluster: the full one, ``name.ns.svc``, ``name.ns``."""
    short = f"{sub_name(name, tag, reads=reads)}.{namespace}"
    return (f"{short}.svc.{reads.settings.cluster_domain}", f"{short}.svc", short)


def scheme(labels: Mapping[str, str], *, reads: Reads) -> str:
    """The scheme of a Route's URL: https by TLS, else as configured; http inside."""
    if is_local(labels, reads=reads):
        return "http"
    settings = network(reads)
    return "https" if settings.tls else settings.scheme


def network(reads: Reads) -> Network:
    """The parsed config-network; defaults where there is none."""
    return knative_configmaps.parse_network(_data("config-network", reads))


def _render(template: str, values: Mapping[str, gotemplate.Value]) -> str:
    try:
        return gotemplate.parse(template, _HOST_STRINGS, _HOST_MAPS).render(values)
    except gotemplate.TemplateError as error:
        raise naming.NameFault(f"error rendering domain-template: {error}") from None


def _data(name: str, reads: Reads) -> knative_configmaps.Pairs:
    return knative_configmaps.pairs((_configmap(name, reads) or {}).get("data"))


def _configmap(name: str, reads: Reads) -> Raw | None:
    return reads.get(Ref("", "ConfigMap", reads.settings.knative_namespace, name))
