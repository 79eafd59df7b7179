"""KIND and KIND/NAME on the command line: which objects of a world they mean."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ingressctl.api.refs import Raw, Ref, display_kind, ref_of
from ingressctl.cli import options, telling
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault
from ingressctl.cli.scene import Scene
from ingressctl.core.world import World
from ingressctl.plan import kindnames, written
from ingressctl.plan.kinds import Resource
from ingressctl.plan.written import Derived


def split(text: str) -> tuple[tuple[Resource, ...], str]:
    """The kinds and the name of KIND/NAME. Raises CommandFault."""
    word, slash, name = text.partition("/")
    if not slash or not name or "/" in name:
        raise CommandFault.of(
            f"{text!r} does not name an object", "write KIND/NAME such as inferenceservice/iris"
        )
    return resources(word), name


def resources(word: str) -> tuple[Resource, ...]:
    """The kinds that a word stands for. Raises CommandFault."""
    found = kindnames.named(word)
    if found:
        return found
    words = sorted({*kindnames.plurals(), *kindnames.SHORT})
    near = difflib.get_close_matches(word.lower(), words, n=2, cutoff=0.7)
    remedy = f"did you mean {' or '.join(near)}? " if near else ""
    raise CommandFault.of(
        f"there is no kind {word!r} here", f"{remedy}choose one such as inferenceservices or vs"
    )


def about(
    target: str, shown: Scene, namespace: str, printer: Printer, verdict: options.Verdict
) -> tuple[Raw, Derived, bool]:
    """The object that KIND/NAME names in what follows from the scene, that, and whether
    something does not follow, which is told. Raises CommandFault."""
    made = written.derive(shown.laid, shown.settings, now=shown.now, providers=shown.providers)
    fault = telling.of_derived(made, shown, printer, verdict)
    return find(target, shown, made.world, namespace=namespace), made, fault


def find(text: str, shown: Scene, world: World, *, namespace: str) -> Raw:
    """The object that KIND/NAME names. `namespace` is the chosen one, or "".

    Files have no current namespace: there a name that occurs once is enough.
    Raises CommandFault.
    """
    kinds, name = split(text)
    place = namespace or shown.namespace
    found = [
        obj
        for kind in kinds
        if (obj := world.get(Ref(*kind.identity, place if kind.namespaced else "", name)))
    ]
    if not found and not namespace and not shown.on_cluster:
        found = [
            obj for kind in kinds for obj in world.list(kind.identity) if ref_of(obj).name == name
        ]
    if len(found) > 1:
        raise _ambiguous(text, found)
    if not found:
        raise _nothing(kinds, name, place, shown, world)
    return found[0]


def _ambiguous(text: str, found: Iterable[Raw]) -> CommandFault:
    refs = [ref_of(obj) for obj in found]
    if len({ref.namespace for ref in refs}) > 1:
        places = ", ".join(ref.namespace for ref in refs)
        return CommandFault.of(f"{text} is in several namespaces: {places}", "choose one with -n")
    words = (
        f"{kindnames.one(kindnames.BY_IDENTITY[ref.group, ref.kind])}/{ref.name}" for ref in refs
    )
    return CommandFault.of(f"{text} is more than one object", f"write {' or '.join(words)}")


def _nothing(
    kinds: tuple[Resource, ...], name: str, place: str, shown: Scene, world: World
) -> CommandFault:
    """Why the object is not found: no right, no such kind, another namespace, another name."""
    first = kinds[0]
    where = f"{place}/{name}" if first.namespaced else name
    called = f"{display_kind(first.group, first.kind)} {where}"
    plural = kindnames.called(first)
    if any(kind.identity in shown.refused for kind in kinds):
        return CommandFault.of(
            f"{called} cannot be looked for: {plural} may not be listed",
            f"ask for the verb list on {plural} in namespace {place}",
        )
    if all(kind.identity in shown.settings.absent for kind in kinds):
        return CommandFault.of(
            f"there is no {called}: the cluster does not serve {plural}", "install its CRD"
        )
    identities = {kind.identity for kind in kinds}
    given = (item.ref for item in shown.laid.written if item.ref[:2] in identities)
    left_out = [ref for ref in given if ref.name == name and world.get(ref) is None]
    if left_out:
        return CommandFault.of(f"{left_out[0]} is refused", "correct what is said of it above")
    others = [ref_of(obj) for kind in kinds for obj in world.list(kind.identity)]
    elsewhere = sorted({ref.namespace for ref in others if ref.name == name})
    if elsewhere:
        return CommandFault.of(f"there is no {called}", f"choose -n {' or -n '.join(elsewhere)}")
    names = [ref.name for ref in others if ref.namespace in ("", place) or not shown.on_cluster]
    near = difflib.get_close_matches(name, names, n=2)
    remedy = f"did you mean {' or '.join(near)}?" if near else f"see ingressctl get {plural}"
    return CommandFault.of(f"there is no {called}", remedy)
