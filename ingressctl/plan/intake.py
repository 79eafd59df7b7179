"""What of an object that a cluster holds goes into the picture of it.

Everything, with a digest of managedFields; but an object that rules cannot read is left out
and told, and a configuration that cannot be used does not take the place of the last good one.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api import configchecks, shapes
from ingressctl.api.refs import Kind, Raw, Ref, ref_of
from ingressctl.core import managed
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value
from ingressctl.plan import kinds


class Taken(Value, frozen=True):
    """`obj` is what the picture is to hold now (None: nothing).

    `unreadable` says why rules cannot read the object; `refused` are the faults of a
    configuration whose last good state stays in force.
    """

    obj: Raw | None
    unreadable: str = ""
    refused: tuple[Finding, ...] = ()


def take(obj: Raw, good: Raw | None, settings: Settings) -> Taken:
    """What becomes of an object that came or changed. `good` is what stays in force of a
    configuration that cannot be used; without it that one is taken, and each owner says so."""
    if not isinstance(obj.get("status") or {}, Mapping):
        obj = {key: value for key, value in obj.items() if key != "status"}
    fault = shapes.fault(obj)
    if fault is not None and fault.ref[:2] != kinds.INFERENCE_SERVICE:
        return Taken(None, unreadable=f"{fault} and the object is left out")
    ref = ref_of(obj)
    if ref != config_map(settings):
        return Taken(managed.digest(obj))
    data = obj.get("data") or {}
    faults = (
        *configchecks.faults(data, gateway_optional=settings.compat.differs("Q28")),
        *configchecks.domain_template_faults(data),
    )
    refused = tuple(configuration.refused(ref, fault) for fault in faults)
    return Taken((good if refused else None) or managed.digest(obj), refused=refused)


def config_map(settings: Settings) -> Ref:
    """KServe's configuration."""
    return Ref("", "ConfigMap", settings.config_namespace, configuration.NAME)


def versions(kind: Kind) -> tuple[str, ...]:
    """The versions of a kind that are known, in the order of preference."""
    resource = kinds.BY_IDENTITY.get(kind)
    return resource.versions if resource else ()
