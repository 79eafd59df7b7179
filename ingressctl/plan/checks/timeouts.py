"""Time limits that are smaller than the one asked for (F5).

Knative refuses a revision whose timeout is over `max-revision-timeout-seconds`
(config-defaults, 600 unless set).
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import Picture

SETTING = "max-revision-timeout-seconds"
BUILT_IN = 600


def find(picture: Picture) -> Iterator[Finding]:
    """Components whose timeout Knative refuses."""
    most = _most(picture)
    for service in picture.services:
        if picture.mode(service) != "Knative":
            continue
        for component, spec in service.components:
            if spec.timeout is not None and spec.timeout > most:
                yield Finding.of(
                    "IC3210",
                    service.ref,
                    path=f"spec.{component}.timeout",
                    component=component,
                    wanted=spec.timeout,
                    setting=SETTING,
                    most=most,
                )


def _most(picture: Picture) -> int:
    text = picture.setting("config-defaults", SETTING, str(BUILT_IN)).strip()
    return int(text) if text.isdecimal() else BUILT_IN
