"""Settings that have no effect: refused, unknown, misspelt, or left inside `_example` (F112)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingressctl.api import configchecks, inferencegraphs
from ingressctl.api.configchecks import Notice
from ingressctl.api.refs import Raw, Ref, annotations_of, ref_of
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import CONFIG_MAP, Picture

KNATIVE = ("config-network", "config-domain", "config-defaults", "config-features", "config-istio")


def find(picture: Picture) -> Iterator[Finding]:
    """What the ConfigMaps that steer routing say in vain."""
    ours = Ref(*CONFIG_MAP, picture.settings.config_namespace, configuration.NAME)
    stored = picture.world.get(ours)
    if stored is not None:
        yield from _ours(ours, stored, picture)
    for name in KNATIVE:
        obj = picture.world.get(Ref(*CONFIG_MAP, picture.settings.knative_namespace, name))
        if obj is not None:
            found = configchecks.example_notices(_data(obj), annotations=annotations_of(obj))
            yield from (_noticed(ref_of(obj), notice) for notice in found)


def _ours(ref: Ref, obj: Raw, picture: Picture) -> Iterator[Finding]:
    optional = picture.reads.differs("Q28")
    graphs = picture.world.holds(inferencegraphs.KIND)
    for fault in configchecks.faults(_data(obj), gateway_optional=optional, graphs=graphs):
        yield configuration.refused(ref, fault)
    for notice in configchecks.notices(_data(obj), annotations=annotations_of(obj)):
        yield _noticed(ref, notice)


def _data(obj: Raw) -> Mapping[str, str]:
    return obj.get("data") or {}


def _noticed(ref: Ref, notice: Notice) -> Finding:
    path = f"data.{notice.path}"
    key, _, written = path.rpartition(".")
    key = key.removeprefix("data.")
    match notice.kind:
        case "unknown":
            guess = f": did you mean {notice.known}?" if notice.known else ""
            return Finding.of("IC1103", ref, path=path, key=key, unknown=written, guess=guess)
        case "other-case":
            text = f"is read as {notice.known!r}"
            return Finding.of("IC1105", ref, path=path, key=key, written=written, means=text)
        case "overridden":
            text = f"has no effect: it comes again as {notice.known!r}"
            return Finding.of("IC1105", ref, path=path, key=key, written=written, means=text)
        case "example":
            return Finding.of("IC1104", ref, path="data._example", setting=notice.path)
        case "dropped":
            return Finding.of(
                "IC1106", ref, path=path, key=notice.path, part=notice.known, why=notice.why
            )
        case "ignored":
            return Finding.of("IC1303", ref, path=path, key=written)
