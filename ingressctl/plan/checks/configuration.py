"""Settings that have no effect: refused, unknown, misspelt, or left inside `_example` (F112)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel

from ingressctl.api import configmaps
from ingressctl.api.refs import Raw, Ref, annotations_of, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import CONFIG_MAP, Picture
from ingressctl.sources.kserve import config as configuration

CHECKSUM = "knative.dev/example-checksum"
MODELS: Mapping[str, type[BaseModel]] = {
    "ingress": configmaps.IngressConfig,
    "deploy": configmaps.DeployConfig,
    "service": configmaps.ServiceConfig,
    "inferenceService": configmaps.InferenceServiceConfig,
}
KNATIVE = ("config-network", "config-domain", "config-defaults", "config-features", "config-istio")


def find(picture: Picture) -> Iterator[Finding]:
    """What the ConfigMaps that steer routing say in vain."""
    ours = Ref(*CONFIG_MAP, picture.settings.config_namespace, configuration.NAME)
    stored = picture.world.get(ours)
    if stored is not None:
        yield from _refused(ours, stored, picture)
        yield from _keys(ours, stored)
        yield from _example(stored)
    for name in KNATIVE:
        obj = picture.world.get(Ref(*CONFIG_MAP, picture.settings.knative_namespace, name))
        if obj is not None:
            yield from _example(obj)


def _refused(ref: Ref, obj: Raw, picture: Picture) -> Iterator[Finding]:
    optional = picture.reads.differs("Q28")
    parsers: Mapping[str, Callable[[str], object]] = {
        "ingress": lambda text: configmaps.parse_ingress(text, gateway_optional=optional),
        "deploy": configmaps.parse_default_mode,
        "inferenceService": configmaps.parse_inference_service,
    }
    for key, parse in parsers.items():
        text = (obj.get("data") or {}).get(key)
        try:
            parse(text) if isinstance(text, str) else None
        except configmaps.ConfigFault as fault:
            yield Finding.of(
                "IC1102",
                ref,
                path=f"data.{key}",
                text=str(fault),
                name=ref.name,
                namespace=ref.namespace,
                key=key,
            )


def _keys(ref: Ref, obj: Raw) -> Iterator[Finding]:
    for key, model in MODELS.items():
        text = (obj.get("data") or {}).get(key)
        if not isinstance(text, str):
            continue
        for unknown, near in configmaps.unknown_keys(model, text):
            guess = f": did you mean {near}?" if near else ""
            yield Finding.of(
                "IC1103", ref, path=f"data.{key}", key=key, unknown=unknown, guess=guess
            )
        for written, known in configmaps.other_case_keys(model, text):
            yield Finding.of(
                "IC1105", ref, path=f"data.{key}", key=key, written=written, known=known
            )


def _example(obj: Raw) -> Iterator[Finding]:
    """Settings of `_example` that are set nowhere else.

    Knative ships maps whose example names every setting, with a checksum of the text: an
    example that still has it was not edited.
    """
    data = obj.get("data") or {}
    text = data.get(configmaps.EXAMPLE_KEY)
    if not isinstance(text, str) or annotations_of(obj).get(CHECKSUM) == checksum(text):
        return
    ref = ref_of(obj)
    for setting in configmaps.example_settings(text):
        if setting not in data or ref.name == configuration.NAME:
            yield Finding.of("IC1104", ref, path="data._example", setting=setting)


def checksum(text: str) -> str:
    """Knative's checksum of an example (knative/pkg: configmap/example.go)."""
    return f"{zlib.crc32(text.strip().encode()):08x}"
