"""What services, predictors and canaries may be called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingressctl.api import dns
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.models.inferenceservices import InferenceService, Predictor

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def of_service(service: InferenceService) -> Iterator[Refusal]:
    """A service is called as a DNS label that begins with a letter."""
    name = service.metadata.name
    if not _NAME.fullmatch(name):
        yield Refusal(
            f'the InferenceService "{name}" is invalid: a InferenceService name must consist of '
            "lower case alphanumeric characters or '-', and must start with alphabetical "
            'character. (e.g. "my-name" or "abc-123", regex used for validation is '
            f"'{_NAME.pattern}')",
            "metadata.name",
            "rename the service",
        )


def of_predictor(predictor: Predictor, path: str) -> Iterator[Refusal]:
    """F52: the name of a predictor becomes a part of the names of its Service and pods."""
    fault = dns.label_fault(predictor.name) if predictor.name else ""
    if fault:
        yield Refusal(
            f"{path}.name is invalid: {fault}",
            f"{path}.name",
            "write a name of small letters, digits and hyphens",
            "F52",
        )
