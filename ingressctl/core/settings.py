"""What the person who runs ingressctl chose, as opposed to what the cluster says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ingressctl.api.refs import Ref
from ingressctl.core.differences import BETTER, Compat

Assume = Literal["ready", "observed"]
Part = Literal["routes", "workloads"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags of design.md section 5, and where things lie. Hashable on purpose.

    `provider` overrides configuration for both deployment modes; `absent` lists
    (group, kind) pairs whose CRD the cluster lacks. `fresh` are objects that only files
    hold, without a status: they and what they make are taken as ready under any `assume`.
    """

    compat: Compat = BETTER
    config_namespace: str = "kserve"
    knative_namespace: str = "knative-serving"
    cluster_domain: str = "cluster.local"
    provider: str = ""
    assume: Assume = "observed"
    write: frozenset[Part] = frozenset({"routes"})
    beside_kserve: bool = False
    absent: frozenset[tuple[str, str]] = frozenset()
    fresh: frozenset[Ref] = frozenset()
