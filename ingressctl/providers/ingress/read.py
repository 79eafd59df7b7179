"""Ingresses as their controller evaluates them.

By the rules of the kind: class, host (``*.x`` is one label), exact paths before longer
prefixes, prefixes by path element, then the default backend. Ties go to the older object.
What annotations change (canaries, rewrites) is not evaluated, and said so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ingressctl.api.refs import INGRESS_CLASS_ANNOTATION, Raw, Ref, annotations_of, ref_of
from ingressctl.core.model import Match, PathMatch, Service, Split
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Table, TableMatch, TableRule, VirtualHost
from ingressctl.core.world import Reads

INGRESS = ("networking.k8s.io", "Ingress")
INGRESS_CLASS = ("networking.k8s.io", "IngressClass")
DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
STEERING = (
    "nginx.ingress.kubernetes.io/canary",
    "nginx.ingress.kubernetes.io/rewrite-target",
    "nginx.ingress.kubernetes.io/use-regex",
    "nginx.ingress.kubernetes.io/server-alias",
    "nginx.ingress.kubernetes.io/app-root",
    "nginx.ingress.kubernetes.io/upstream-vhost",
)
"""Annotations that change where a request goes."""


@dataclass(slots=True)
class _Draft:
    reads: Reads
    rules: dict[tuple[str, str], list[TableRule]] = field(default_factory=dict)
    defaults: dict[tuple[str, str], list[TableRule]] = field(default_factory=dict)
    findings: dict[Finding, None] = field(default_factory=dict)


def table(objects: Iterable[Raw], *, reads: Reads) -> Table:
    """The table of all Ingresses among the objects."""
    draft = _Draft(reads)
    ours = [obj for obj in objects if ref_of(obj)[:2] == INGRESS]
    for obj in sorted(ours, key=_age):
        _add(obj, draft)
    hosts = tuple(
        VirtualHost(
            (place[0],) if place[0] else (),
            (place[1],),
            (*sorted(rules, key=_precedence), *draft.defaults.get(place, ())),
            one_label=True,
        )
        for place, rules in draft.rules.items()
    )
    known = tuple(ref_of(obj).name for obj in reads.list(INGRESS_CLASS))
    return Table("ingress", hosts, findings=tuple(draft.findings), known=known)


def _age(obj: Raw) -> tuple[bool, str, str, str]:
    """Older first; an object not yet created is the youngest."""
    meta = obj["metadata"]
    created = str(meta.get("creationTimestamp") or "")
    return (not created, created, str(meta.get("namespace")), str(meta.get("name")))


def class_of(obj: Raw, reads: Reads) -> str:
    """The class of an Ingress: field, old annotation, default class; "" if none is known."""
    named = (obj.get("spec") or {}).get("ingressClassName")
    named = named or annotations_of(obj).get(INGRESS_CLASS_ANNOTATION)
    if named:
        return str(named)
    classes = reads.list(INGRESS_CLASS)
    default = (item for item in classes if annotations_of(item).get(DEFAULT_CLASS) == "true")
    return next((ref_of(item).name for item in default), "")


def _add(obj: Raw, draft: _Draft) -> None:
    ref, spec = ref_of(obj), obj.get("spec") or {}
    entry = class_of(obj, draft.reads)
    default = _default(spec, ref, draft.reads)
    if default:
        draft.rules.setdefault((entry, "*"), [])
        draft.defaults.setdefault((entry, "*"), []).append(default)
    for place, rule in enumerate(spec.get("rules") or ()):
        host = str(rule.get("host") or "*").lower()
        paths = _paths(rule, f"rules[{place}]", ref, draft.reads)
        draft.rules.setdefault((entry, host), []).extend(paths)
        if default:
            draft.defaults.setdefault((entry, host), []).append(default)
    for name in STEERING:
        if name in annotations_of(obj):
            draft.findings[Finding.of("IC3304", ref, what=f"annotation {name}")] = None


def _default(spec: Mapping[str, Any], ref: Ref, reads: Reads) -> TableRule | None:
    backend = spec.get("defaultBackend")
    if not backend:
        return None
    return TableRule(ref, "defaultBackend", (TableMatch(Match()),), _splits(backend, ref, reads))


def _paths(rule: Mapping[str, Any], name: str, ref: Ref, reads: Reads) -> Iterator[TableRule]:
    for place, path in enumerate((rule.get("http") or {}).get("paths") or ()):
        kind = "exact" if path.get("pathType") == "Exact" else "prefix"
        match = Match(PathMatch(kind, str(path.get("path") or "/")))  # type: ignore[arg-type]
        yield TableRule(
            source=ref,
            name=f"{name}.paths[{place}]",
            matches=(TableMatch(match),),
            splits=_splits(path.get("backend") or {}, ref, reads),
        )


def _splits(backend: Mapping[str, Any], ref: Ref, reads: Reads) -> tuple[Split, ...]:
    service = backend.get("service") or {}
    if not service:
        return ()
    name, port = str(service.get("name")), service.get("port") or {}
    number = int(port.get("number") or 0)
    if not number and port.get("name"):
        number = _port_number(Ref("", "Service", ref.namespace, name), str(port["name"]), reads)
    return (Split(Service(ref.namespace, name), number),)


def _port_number(service: Ref, name: str, reads: Reads) -> int:
    ports = ((reads.get(service) or {}).get("spec") or {}).get("ports") or ()
    found = (int(port.get("port") or 0) for port in ports if port.get("name") == name)
    return next(found, 0)


def _precedence(rule: TableRule) -> tuple[bool, int]:
    path = rule.matches[0].match.path
    assert path is not None
    return (path.kind != "exact", -len(path.value))
