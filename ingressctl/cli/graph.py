"""``ingressctl graph``: an object and what it makes, or the steps of an InferenceGraph, drawn."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import msgspec
import typer

from ingressctl.api import inferencegraphs
from ingressctl.api.refs import Raw, ref_of
from ingressctl.cli import names, options, scene, targets, telling
from ingressctl.cli.problems import CommandFault
from ingressctl.plan import chain
from ingressctl.plan.drawing import dot, graphs, mermaid, objects, svg, tree
from ingressctl.plan.drawing.boxes import Picture

Form = Literal["tree", "dot", "mermaid", "svg"]


@options.command
def command(
    *,
    target: names.Object,
    form: Annotated[Form, typer.Option("-o", "--output", help="Form of the picture.")] = "tree",
    whole: Annotated[
        bool,
        typer.Option("--objects", help="Of an InferenceGraph: its objects, not its steps."),
    ] = False,
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    verdict: options.Verdict,
    talk: options.Talk,
) -> None:
    """Draw the steps of an InferenceGraph, or an object with all that it makes.

    A tree is for the terminal, dot for Graphviz, mermaid for Markdown, and svg for browsers,
    drawn without any other program. What a cluster holds is drawn as it is, what files hold
    as it would be.

    Ends with 0, with 1 if a finding is as grave as --fail-on, and with 2 if there is no such
    object or it cannot be read.

    Examples:
      ingressctl graph inferencegraph/fraud -f graph.yaml --against none
      ingressctl graph ig/fraud -o svg > fraud.svg        # needs a kubeconfig
      ingressctl graph ig/fraud -o mermaid --against dump/
      ingressctl graph isvc/model -f model.yaml --against none
    """
    with telling.guarded(talk) as printer:
        targets.split(target)
        shown = scene.build(
            given, rules, chosen, base, printer, need_files=False, whole=True, beneath=True
        )
        obj, made, fault = targets.about(target, shown, given.namespace, printer, verdict)
        if ref_of(obj)[:2] == inferencegraphs.KIND and not whole:
            picture = graphs.draw(str(ref_of(obj)), _spec(obj))
        else:
            picture = objects.draw(chain.tree(obj, made.world))
        printer.data(_drawn(picture, form))
        telling.end(fault=fault, differs=False, found=(), verdict=verdict)


def _spec(obj: Raw) -> inferencegraphs.Spec:
    """The graph of an object. Raises CommandFault."""
    try:
        return inferencegraphs.of_raw(obj.get("spec") or {})
    except msgspec.ValidationError as fault:
        raise CommandFault.of(
            f"{ref_of(obj)} cannot be drawn: {fault}", "see what ingressctl check says of it"
        ) from None


def _drawn(picture: Picture, form: Form) -> tuple[str, ...]:
    if form == "tree":
        is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        return tuple(tree.write(picture, tree.LINES if is_utf8 else tree.ASCII))
    writers = {"dot": dot.write, "mermaid": mermaid.write, "svg": svg.write}
    return tuple(writers[form](picture))
