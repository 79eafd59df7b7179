"""Why a component cannot be made. The texts are KServe's (spec/kserve-runtimes.md 14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ComponentFault(ValueError):
    """The component step ends here; routes stay as they are."""


class ModelFault(ComponentFault):
    """The model cannot be served as written: told in modelStatus.

    `reason` and `message` are those of modelStatus.lastFailureInfo.
    """

    def __init__(self, text: str, reason: str, message: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.message = message

    def model_status(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """modelStatus after this failure; the active model stays what it was."""
        states = stored.get("states") or {}
        return {
            **stored,
            "transitionStatus": "InvalidSpec",
            "lastFailureInfo": {"message": self.message, "reason": self.reason},
            "states": {
                "activeModelState": states.get("activeModelState") or "",
                "targetModelState": "FailedToLoad",
            },
        }


class RefusedFault(ComponentFault):
    """The API server would refuse an object; told in the component's Ready condition."""

    def __init__(self, text: str, component: str = "predictor") -> None:
        super().__init__(text)
        self.component = component


class PanicFault(ComponentFault):
    """KServe crashes here and writes nothing (R9, R12)."""

    def __init__(self) -> None:
        super().__init__("runtime error: invalid memory address or nil pointer dereference")


def unservable(text: str, *, message: str = "") -> ModelFault:
    """The runtime's or the predictor's containers cannot be used."""
    return ModelFault(text, "InvalidPredictorSpec", message or text)
