"""Finds provider folders: the shipped ones and those of --templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingressctl.providers.template import definition
from ingressctl.providers.template.definition import DefinitionFault, TemplateSet

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped_root() -> Path:
    """The shipped `templates` folder: inside an installed package, beside it in a checkout."""
    inside = _PACKAGE / "templates"
    return inside if inside.is_dir() else _PACKAGE.parent / "templates"


def shipped() -> tuple[TemplateSet, ...]:
    """The provider folders that ingressctl ships."""
    return tuple(read(folder) for folder in _folders(shipped_root() / "providers"))


def given(root: Path) -> tuple[TemplateSet, ...]:
    """The provider folders below `root`, or `root` itself. Raises DefinitionFault."""
    return tuple(read(folder) for folder in _given_folders(root))


def _given_folders(root: Path) -> list[Path]:
    if not root.is_dir():
        raise DefinitionFault(f"{root}: no such folder: name one that holds provider.yaml")
    folders = [root] if (root / "provider.yaml").is_file() else _folders(root)
    if not folders:
        raise DefinitionFault(f"{root}: no provider.yaml in it or in a folder below")
    return folders


def names(root: Path) -> Mapping[str, Path]:
    """The providers of `given` by name, with their folders. Raises DefinitionFault."""
    return {definition.parse(read(folder)).name: folder for folder in _given_folders(root)}


def _folders(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/provider.yaml"))


def read(folder: Path) -> TemplateSet:
    """The texts of one provider folder. Raises DefinitionFault."""
    try:
        definition = (folder / "provider.yaml").read_text("utf-8")
        files = tuple(
            (path.name, path.read_text("utf-8")) for path in sorted(folder.glob("*.yaml.j2"))
        )
    except (OSError, UnicodeDecodeError) as fault:
        raise DefinitionFault(f"{folder}: cannot be read: {fault}") from None
    return TemplateSet(folder.name, definition, files)
