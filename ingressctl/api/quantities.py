"""Kubernetes quantities such as ``500m`` or ``2Gi``."""

from __future__ import annotations

import re
from decimal import Decimal

PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""What the schemas of Kubernetes' own kinds say of a quantity."""

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)([a-zA-Z]*)")
_SUFFIXES = {
    "": Decimal(1),
    **{unit: Decimal(1000) ** power for power, unit in enumerate(["n", "u", "m"], -3)},
    **{
        unit: Decimal(1000) ** power for power, unit in enumerate(["k", "M", "G", "T", "P", "E"], 1)
    },
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}


def quantity(text: object) -> Decimal | None:
    """The value of a quantity; None if it is none."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return None
    match = _QUANTITY.fullmatch(str(text))
    factor = _SUFFIXES.get(match[2]) if match else None
    return Decimal(match[1]) * factor if match and factor else None
