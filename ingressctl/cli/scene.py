"""From flags to the world a question is asked of: base, files, settings, providers.

The one place where preview, check, explain, render and up turn what a person typed into what
the plan takes. Every fault of the flags and inputs is a CommandFault.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from ingressctl.api.refs import Ref, ref_of
from ingressctl.cli import clusters, inputs, options, plugins, suggesting, templates
from ingressctl.cli.clusters import Held
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault
from ingressctl.core.differences import Compat, UnknownDifference
from ingressctl.core.outcome import Origin
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Assume, Part, Settings
from ingressctl.core.world import Kind, World
from ingressctl.plan import folders, kinds, overlay, trials
from ingressctl.plan.manifests import Document, Note
from ingressctl.plan.overlay import Laid

CONFIG_MAPS: Kind = ("", "ConfigMap")
CONFIG_MAP = "inferenceservice-config"
DEFAULT_CONFIG_NAMESPACE = "kserve"


@dataclass(frozen=True, slots=True)
class Scene:
    """What a command works on. `texts` are the files' bytes, for lines of fields."""

    laid: Laid
    settings: Settings
    providers: Mapping[str, Provider]
    now: datetime
    texts: Mapping[str, bytes]
    namespace: str = "default"
    """The namespace that was chosen, else that of the kubeconfig."""
    on_cluster: bool = False
    """Whether what exists was read from a cluster."""
    refused: frozenset[Kind] = frozenset()
    """Kinds that may not be read there."""


def build(
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    printer: Printer,
    *,
    need_files: bool = True,
    whole: bool = False,
    beneath: bool = False,
) -> Scene:
    """The scene of a command; `whole` if it asks about everything that exists, `beneath` if
    what lies below the routes of the chosen namespace counts.

    Raises CommandFault.
    """
    settings, providers = decide(rules, chosen, assume=rules.assume)
    sources = read_inputs(given, need_files=need_files)
    held = hold(base, settings, printer, home=given.namespace, beneath=beneath)
    if held.is_nothing and not (given.filename or given.kustomize):
        raise CommandFault.of(
            "no input is given", "name files with -f, or what exists with --against or a kubeconfig"
        )
    settings = replace(settings, absent=held.absent)
    documents = (*sources.documents, *tried(rules, held, sources.documents, settings))
    namespace = given.namespace or held.namespace or "default"
    laid = overlay.lay(held.world, documents, namespace=namespace, named=bool(given.namespace))
    now = datetime.now(UTC)
    if held.is_folder:
        laid = on_completed(laid, settings, now, providers, whole=whole)
    printer.notices((*sources.notices, *laid.notices))
    check_config_map(laid, settings, rules, printer, blind=CONFIG_MAPS in held.refused)
    if not rules.assume:
        settings = replace(settings, fresh=laid.fresh)
        tell_assumption(laid, printer)
    on_cluster = not (held.is_folder or held.is_nothing)
    return Scene(
        laid,
        settings,
        providers,
        now,
        sources.texts,
        namespace=namespace,
        on_cluster=on_cluster,
        refused=held.refused,
    )


def on_completed(
    laid: Laid,
    settings: Settings,
    now: datetime,
    providers: Mapping[str, Provider],
    *,
    whole: bool,
) -> Laid:
    """The files over the folder as it would be if a cluster had made its routes."""
    written = [item.obj for item in laid.written]
    base = folders.complete(
        laid.base, settings, now=now, providers=providers, written=written, whole=whole
    )
    return laid if base is laid.base else replace(laid, base=base, world=base.overlay(written))


def read_inputs(given: options.Inputs, *, need_files: bool) -> inputs.Sources:
    """The files that were named. Raises CommandFault."""
    if given.filename and given.kustomize:
        raise CommandFault.of("-f and -k exclude each other", "give one of them")
    if need_files and not (given.filename or given.kustomize):
        raise CommandFault.of("no input is given", "name files with -f, or a kustomization with -k")
    return inputs.read(given.filename, recursive=given.recursive, kustomization=given.kustomize)


def decide(
    rules: options.Standing, chosen: options.Providers, *, assume: str = ""
) -> tuple[Settings, Mapping[str, Provider]]:
    """Settings and providers by the flags. Raises CommandFault."""
    try:
        compat = Compat.parse(rules.compat)
        providers = plugins.providers(Path(chosen.templates) if chosen.templates else None)
    except UnknownDifference as fault:
        raise CommandFault.of(str(fault), "see ingressctl version --differences") from None
    except ValueError as fault:
        raise CommandFault.of(f"--templates: {fault}", "correct the folder of templates") from None
    if chosen.provider and chosen.provider not in providers:
        raise CommandFault.of(
            f"there is no provider {chosen.provider!r}{_read_from(chosen.templates)}",
            suggesting.or_one_of(chosen.provider, providers),
        )
    write = _parts(rules.write)
    settings = Settings(
        compat=compat,
        config_namespace=config_namespace(rules),
        provider=chosen.provider,
        assume=_assume(assume),
        write=write,
        beside_kserve=_beside(rules.beside, write),
    )
    return settings, providers


def _read_from(folder: str) -> str:
    """What --templates brought: a provider is called as its provider.yaml says."""
    if not folder:
        return ""
    read = (f"{name} (folder {path.name})" for name, path in templates.names(Path(folder)).items())
    return f"; --templates {folder} holds {', '.join(read)}"


def config_namespace(rules: options.Standing) -> str:
    """Where inferenceservice-config lies: the flag, POD_NAMESPACE, kserve."""
    return rules.config_namespace or os.environ.get("POD_NAMESPACE") or DEFAULT_CONFIG_NAMESPACE


def _assume(text: str) -> Assume:
    if text in ("", "observed"):
        return "observed"
    if text == "ready":
        return "ready"
    raise CommandFault.of(f"--assume cannot be {text!r}", "write --assume ready or observed")


def _parts(text: str) -> frozenset[Part]:
    known: tuple[Part, ...] = get_args(Part)
    named = [part.strip() for part in text.split(",")]
    strange = [part for part in named if part not in known]
    if strange:
        raise CommandFault.of(
            f"--write has no part {strange[0]!r}", f"write {' or '.join(known)}, or both"
        )
    return frozenset(part for part in known if part in named)


def _beside(text: str, write: frozenset[Part]) -> bool:
    if text not in ("", "kserve"):
        raise CommandFault.of(f"--beside cannot be {text!r}", "write --beside kserve")
    if text and "workloads" in write:
        raise CommandFault.of(
            "--beside kserve leaves the workloads to KServe, --write workloads takes them",
            "leave one of the two out",
        )
    return bool(text)


def hold(
    base: options.Base,
    settings: Settings,
    printer: Printer,
    *,
    home: str = "",
    beneath: bool = False,
) -> Held:
    """What files are laid over. Raises CommandFault."""
    against = base.against or _default_base(base, printer)
    if against == "none":
        return Held(World({}), is_nothing=True)
    if against == "cluster":
        return clusters.read(base, settings, printer, home=home, beneath=beneath)
    sources = inputs.read_folder(against)
    documents, told = overlay.placed(
        tuple(sources.documents), namespace=home or "default", named=bool(home)
    )
    printer.notices(told)
    return Held(World.of(item.obj for item in documents), is_folder=True)


def _default_base(base: options.Base, printer: Printer) -> str:
    if base.kubeconfig or base.context or inputs.kubeconfig_exists():
        printer.say(
            "notice: what exists is read from the cluster of the kubeconfig; with --against none "
            "nothing exists"
        )
        return "cluster"
    return "none"


def tried(
    rules: options.Rules, held: Held, documents: Iterable[Document], settings: Settings
) -> tuple[Document, ...]:
    """What --set changes, on top of base and files. Raises CommandFault."""
    if not rules.set:
        return ()
    maps = [item.obj for item in documents if ref_of(item.obj).kind == "ConfigMap"]
    try:
        return trials.documents(rules.set, held.world.overlay(maps), settings)
    except trials.TrialFault as fault:
        raise CommandFault.of(f"--set {fault}", "see --help for the two forms of --set") from None


def check_config_map(
    laid: Laid, settings: Settings, rules: options.Rules, printer: Printer, *, blind: bool
) -> None:
    """A named ConfigMap must be there; without one the shipped values hold, visibly.

    `blind`: ConfigMaps may not be read, so it may well be there.
    """
    ref = Ref("", "ConfigMap", settings.config_namespace, CONFIG_MAP)
    if laid.world.get(ref) is not None or not laid.world.list(kinds.INFERENCE_SERVICE):
        return
    state = f"{ref} may not be read" if blind else f"there is no {ref}"
    if rules.config_namespace:
        raise CommandFault.of(
            f"--config-namespace: {state}",
            "give the ConfigMap with -f, or name the namespace that it lies in",
        )
    text = f"{state}: the values that KServe ships are used"
    printer.notices([Note(text, "give it with -f, or name --config-namespace", Origin("inputs"))])


def tell_assumption(laid: Laid, printer: Printer) -> None:
    """Says that objects without status are taken as ready."""
    fresh = [ref for ref in laid.fresh if (ref.group, ref.kind) == kinds.INFERENCE_SERVICE]
    if fresh:
        first = min(fresh)
        text = f"{first} has no status and is only in files, so it counts as ready"
        if len(fresh) > 1:
            text = (
                f"{first} and {len(fresh) - 1} more have no status and are only in files, so they "
                "count as ready"
            )
        printer.say(f"notice: {text}; --assume observed believes only what is written")
