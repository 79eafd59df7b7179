"""Which deployment mode an InferenceService is in (spec/kserve-ingress.md 2)."""

from __future__ import annotations

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.kserve.served import Served
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Reads


def resolve(service: Served, config: Config, reads: Reads) -> str:
    """Status, then annotation, then default. Any text of the status is taken as it is.

    The result sticks: every status update writes it.
    """
    stored = str(service.status.get("deploymentMode") or "")
    if stored:
        return configmaps.OLD_MODES.get(stored, stored)
    annotated = annotated_mode(service, config)
    if annotated:
        return annotated
    if not config.default_mode and reads.differs("Q27"):
        return "Knative"
    return config.default_mode


def annotated_mode(service: Served, config: Config) -> str:
    """The mode of the annotation; "" when absent, unknown or filtered out."""
    if MODE_ANNOTATION in config.disallowed_annotations:
        return ""
    text = service.annotations.get(MODE_ANNOTATION, "")
    mode = configmaps.OLD_MODES.get(text, text)
    return mode if mode in configmaps.MODES else ""


def findings(service: Served, config: Config) -> tuple[Finding, ...]:
    """What a person should know about the choice."""
    text = service.annotations.get(MODE_ANNOTATION, "")
    asked, stored = annotated_mode(service, config), str(service.status.get("deploymentMode") or "")
    if text and not asked:
        return (Finding.of("IC1201", service.ref, annotation=MODE_ANNOTATION, value=text),)
    kept = configmaps.OLD_MODES.get(stored, stored)
    if asked and kept and asked != kept:
        told = {"annotation": MODE_ANNOTATION, "asked": asked, "kept": kept}
        return (Finding.of("IC1601", service.ref, difference="Q45", **told),)
    if not text and not config.default_mode and not service.status.get("deploymentMode"):
        return (Finding.of("IC1202", service.ref, difference="Q27"),)
    return ()


def provider(mode: str, ingress: configmaps.IngressConfig, reads: Reads) -> str:
    """The provider that routes this mode; "" when KServe has none for it.

    Flag, then our key ingress.provider, then KServe's rule (design.md section 5).
    """
    if mode not in ("Knative", "ModelMesh", "Standard"):
        return ""
    chosen = reads.settings.provider or ingress.provider.get(mode, "")
    if chosen:
        return chosen
    if mode != "Standard":
        return "istio"
    return "gateway_api" if ingress.enableGatewayApi else "ingress"


def not_followed(provider: str, reads: Reads) -> str:
    """Why a provider cannot be had; "" when it can."""
    if provider in reads.providers:
        return ""
    known = ", ".join(sorted(reads.providers)) or "none"
    return (
        f"the configuration asks for provider {provider}, and {known} is followed: add it to "
        "--providers, or choose another one by --provider, enableGatewayApi or ingress.provider"
    )
