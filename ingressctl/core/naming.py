"""Host and path templates, and the names that Services have inside the cluster.

KServe's template rules: spec/kserve-ingress.md 5.1 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ingressctl.api import dns, gotemplate

_STRINGS = frozenset({"Name", "Namespace", "IngressDomain"})
_MAPS = frozenset({"Annotations", "Labels"})
_PATH_STRINGS = frozenset({"Name", "Namespace"})


class NameFault(ValueError):
    """A name, host or template that cannot be. The text is what users see."""


class PathFault(NameFault):
    """A pathTemplate that does not render a usable path."""


def render_host(
    template: str,
    *,
    name: str,
    namespace: str,
    domain: str,
    annotations: Mapping[str, str],
    labels: Mapping[str, str],
    name_missing_keys: bool,
) -> str:
    """A host from a domainTemplate, checked to be fully qualified.

    `name_missing_keys` names an absent label or annotation instead of calling
    ``<no value>`` invalid (Q17). Raises NameFault.
    """
    if not _reads_maps(template):
        return _host_of_names(template, name, namespace, domain)
    values: dict[str, gotemplate.Value] = {
        "Name": name,
        "Namespace": namespace,
        "IngressDomain": domain,
        "Annotations": annotations,
        "Labels": labels,
    }
    host, fault = _rendered(template, values)
    if not fault:
        return host
    missing = gotemplate.missing_keys(template, values) if name_missing_keys else ()
    if missing:
        raise NameFault(
            f"domainTemplate {template!r} needs {', '.join(missing)}, which {name} lacks: "
            "set it or change the template"
        )
    raise NameFault(_invalid(host, template, fault))


@lru_cache(maxsize=256)
def _reads_maps(template: str) -> bool:
    return "Labels" in template or "Annotations" in template


@lru_cache(maxsize=131_072)
def _host_of_names(template: str, name: str, namespace: str, domain: str) -> str:
    """As render_host, for templates without maps: one service asks several times."""
    values: dict[str, gotemplate.Value] = {
        "Name": name,
        "Namespace": namespace,
        "IngressDomain": domain,
        "Annotations": {},
        "Labels": {},
    }
    host, fault = _rendered(template, values)
    if fault:
        raise NameFault(_invalid(host, template, fault))
    return host


def _rendered(template: str, values: Mapping[str, gotemplate.Value]) -> tuple[str, str]:
    try:
        host = gotemplate.parse(template, _STRINGS, _MAPS).render(values)
    except gotemplate.TemplateError as error:
        raise NameFault(f"error rendering the domain template: {error}") from None
    return host, dns.fqdn_fault(host)


def _invalid(host: str, template: str, fault: str) -> str:
    return f'invalid domain name "{host}" from domainTemplate {template!r}: {fault}'


def render_path(template: str, *, name: str, namespace: str) -> str:
    """The path of a pathTemplate (spec/kserve-ingress.md 6). Raises PathFault."""
    try:
        text = gotemplate.parse(template, _PATH_STRINGS).render(
            {"Name": name, "Namespace": namespace}
        )
    except gotemplate.TemplateError as error:
        raise PathFault(f"error rendering the url template: {error}") from None
    if re.match(r"[a-zA-Z][-+.a-zA-Z0-9]*://", text):
        raise PathFault(
            f"invalid url path {text!r} - contains either a scheme or a host: "
            "pathTemplate must render a path that starts with /"
        )
    if not text.startswith("/") or re.search(r"[\x00-\x20\x7f]", text):
        raise PathFault(f"invalid url {text!r}: pathTemplate must render a path that starts with /")
    if text.startswith("//"):
        raise PathFault(f"invalid url path {text!r} - contains either a scheme or a host")
    return re.split(r"[?#]", text, maxsplit=1)[0]


def internal_host(name: str, namespace: str, cluster_domain: str) -> str:
    """``<service>.<namespace>.svc.<cluster domain>``"""
    return f"{name}.{namespace}.svc.{cluster_domain}"
