"""A cluster as base: its objects, read once by kubeconfig."""

from __future__ import annotations

from dataclasses import dataclass

from ingressctl.cli import options
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault
from ingressctl.core.world import Kind, World


@dataclass(frozen=True, slots=True)
class Held:
    """What exists already: objects, the namespace that a kubeconfig names, absent kinds."""

    world: World
    namespace: str = ""
    absent: frozenset[Kind] = frozenset()
    name: str = "none"


def read(base: options.Base, printer: Printer) -> Held:
    """Everything that routes may follow from. Raises CommandFault."""
    raise CommandFault.of("a cluster cannot be read yet", "give --against none or a folder")
