"""What an API server refuses of our objects, in its words.

Needed only to be as the reference where it makes objects that cannot be (R7, R8).
"""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Raw


def service_fault(service: Raw) -> str:
    """Why the API server refuses the Service; "" if it takes it."""
    ports = service["spec"]["ports"]
    if len(ports) < 2:
        return ""
    faults = [
        f"spec.ports[{place}].name: Required value"
        for place, port in enumerate(ports)
        if not port.get("name")
    ]
    return _invalid(f'Service "{service["metadata"]["name"]}"', faults)


def deployment_fault(name: str, containers: Iterable[Raw]) -> str:
    """Why the API server refuses a Deployment of these containers; "" if it takes it."""
    seen: set[str] = set()
    faults = []
    for place, container in enumerate(containers):
        own = str(container.get("name") or "")
        if own in seen:
            where = f"spec.template.spec.containers[{place}].name"
            faults.append(f'{where}: Duplicate value: "{own}"')
        seen.add(own)
    return _invalid(f'Deployment.apps "{name}"', faults)


def _invalid(what: str, faults: list[str]) -> str:
    if not faults:
        return ""
    detail = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return f"{what} is invalid: {detail}"
