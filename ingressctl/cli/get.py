"""``ingressctl get``: a table of routes as they would be served, or of objects of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ingressctl.api.refs import Raw, Ref, labels_of, ref_of
from ingressctl.api.selectors import Selector
from ingressctl.cli import labels, names, options, scene, sheets, targets, telling
from ingressctl.cli.output import Printer, as_list
from ingressctl.cli.problems import CommandFault
from ingressctl.cli.scene import Scene
from ingressctl.core.world import Kind, Reads
from ingressctl.plan import columns, kindnames, listing, missing, registry, written
from ingressctl.plan.columns import Sheet
from ingressctl.plan.listing import Row
from ingressctl.plan.manifests import Note
from ingressctl.plan.written import Derived

ROUTES = "routes"
"""Not a kind: the routes of every provider."""

NOT_ROUTES: frozenset[Kind] = frozenset({("", "Service")})
"""Kinds that a provider writes beside its routes."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which objects are listed, and how."""

    everywhere: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Of all namespaces.")
    ] = False
    selector: labels.Labels = ""
    form: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="wide|name|json|yaml|jsonpath=",
            autocompletion=options.values(*sheets.FORMS),
            help="Form of the output [default: a table].",
        ),
    ] = ""
    no_headers: Annotated[
        bool, typer.Option("--no-headers", help="Leave the titles of the table out.")
    ] = False


@options.command
def command(
    *,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND[/NAME]",
            help="routes, or a kind such as httproutes or isvc.",
            autocompletion=names.listed,
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="Of one object only.")
    ] = "",
    table: Listing,
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    talk: options.Talk,
) -> None:
    """List routes, or the objects of a kind.

    Of routes a line for each backend of each rule of each host is printed, read back from the
    objects that exist, whoever wrote them. With -f the objects of the files count as if they
    were applied.

    Ends with 0 whatever is found, and with 2 if an object of the files would be refused or
    cannot be derived.

    Examples:
      ingressctl get routes                      # needs a kubeconfig
      ingressctl get httproutes -A -o wide       # needs a kubeconfig
      ingressctl get routes -f models/ -R --against none
      ingressctl get isvc -f models/ -R -o 'jsonpath={.items[*].status.url}'
      ingressctl get isvc/model -f model.yaml -o yaml --against none
    """
    with telling.guarded(talk) as printer:
        sheets.check_form(table.form)
        chosen_ones = labels.selector(table.selector)
        wanted, called = _kinds(kind, name)
        shown = scene.build(
            given,
            rules,
            chosen,
            base,
            printer,
            need_files=False,
            whole=True,
            beneath=any(item.identity in wanted for item in kindnames.BENEATH),
        )
        made = written.derive(shown.laid, shown.settings, now=shown.now, providers=shown.providers)
        fault = telling.of_derived(made, shown, printer)
        place = _place(given, shown, table.everywhere)
        asked = _Asked(shown, made, wanted, called, chosen_ones, place)
        if called and not asked.objects:
            raise _nobody(kind, called, place)
        if not wanted and not made.carried:
            printer.notices(_unrouted(shown, made))
        _print(asked, table, printer)
        telling.end(fault=fault, differs=False, found=(), verdict=options.Verdict())


def _kinds(word: str, name: str) -> tuple[tuple[Kind, ...], str]:
    """The kinds that are asked for (none: routes), and the name if one is. Raises CommandFault."""
    kind, _, named = word.partition("/")
    if named and name:
        raise CommandFault.of(f"{word!r} has a name already", "leave one of the two out")
    called = named or name
    if kind != ROUTES:
        return tuple(item.identity for item in targets.resources(kind)), called
    if called:
        raise CommandFault.of("routes have no name", "name a kind, such as httproutes or vs")
    return (), ""


def _nobody(kind: str, called: str, place: str) -> CommandFault:
    where = f" in namespace {place}" if place else ""
    return CommandFault.of(
        f"there is no {kind.partition('/')[0]} {called}{where}", "choose one with -n, or -A"
    )


def _unrouted(shown: Scene, made: Derived) -> Iterator[Note]:
    """What has no row, and who tells why."""
    for ref, origin in missing.unrouted(shown.laid, made.world, shown.providers):
        kind = kindnames.one(kindnames.BY_IDENTITY[ref[:2]])
        where = f"{kind}/{ref.name} -n {ref.namespace}"
        yield Note(f"{ref} has no route", f"ingressctl describe {where} tells why", origin)


def _place(given: options.Inputs, shown: Scene, everywhere: bool) -> str:
    """The namespace that is listed; "" for all. Files alone have no current one."""
    if everywhere or not (given.namespace or shown.on_cluster):
        return ""
    return shown.namespace


class _Asked:
    """The objects of the question, and their rows where they are routes."""

    def __init__(
        self,
        shown: Scene,
        made: Derived,
        wanted: tuple[Kind, ...],
        called: str,
        selector: Selector,
        namespace: str,
    ) -> None:
        routing = tuple(
            kind for kind in registry.routing_kinds(shown.providers) if kind not in NOT_ROUTES
        )
        self.shown = shown
        self.made = made
        self.namespace = namespace
        self.kinds = wanted or routing
        self.are_routes = all(kind in routing for kind in self.kinds)
        self.objects = tuple(
            obj
            for kind in self.kinds
            for obj in made.world.list(kind)
            if selector.selects(labels_of(obj))
            and ref_of(obj).namespace in ("", namespace or ref_of(obj).namespace)
            and called in ("", ref_of(obj).name)
        )
        self.carries = not wanted and selector.selects({})

    def rows(self) -> tuple[Row, ...]:
        """The rows of the objects, and of providers that have none."""
        reads = Reads(self.made.world, self.shown.settings, providers=self.shown.providers)
        refs = {ref_of(obj) for obj in self.objects}

        def wanted(ref: Ref) -> bool:
            if ref in refs:
                return True
            carried = self.carries and ref[:2] not in self.kinds
            return carried and ref.namespace in ("", self.namespace or ref.namespace)

        return listing.rows(listing.tables(reads, self.made.carried), reads, wanted=wanted)


def _print(asked: _Asked, table: Listing, printer: Printer) -> None:
    form = table.form
    if form in ("", "wide"):
        spaces = {ref_of(obj).namespace for obj in asked.objects if ref_of(obj).namespace}
        found = tuple(
            _sheets(asked, everywhere=table.everywhere or len(spaces) > 1, wide=form == "wide")
        )
        if not found:
            _say_nothing(asked, printer)
        for place, sheet in enumerate(found):
            printer.data(
                [*([""] if place else []), *sheets.lines(sheet, titles=not table.no_headers)]
            )
    elif form == "name":
        printer.data(map(_name, asked.objects))
    else:
        sheets.machine(as_list(map(_plain, asked.objects)), form, printer)


def _sheets(asked: _Asked, *, everywhere: bool, wide: bool) -> Iterable[Sheet]:
    """One table of routes, or one of each kind."""
    if asked.are_routes:
        rows = asked.rows()
        if rows:
            yield columns.of_routes(rows, everywhere=everywhere, wide=wide)
        return
    for kind in asked.kinds:
        objects = [obj for obj in asked.objects if ref_of(obj)[:2] == kind]
        if objects:
            yield columns.of_objects(objects, now=asked.shown.now, everywhere=everywhere, wide=wide)


def _say_nothing(asked: _Asked, printer: Printer) -> None:
    if not asked.namespace:
        printer.say("No resources found.")
        return
    printer.say(f"No resources found in {asked.namespace} namespace.")


def _name(obj: Raw) -> str:
    ref = ref_of(obj)
    return f"{kindnames.one(kindnames.BY_IDENTITY[ref.group, ref.kind])}/{ref.name}"


def _plain(obj: Raw) -> Mapping[str, Any]:
    """The object as kubectl prints it: what managers of fields keep is left out."""
    metadata = {key: item for key, item in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
