"""``ingressctl wait``: until an object is ready, with reasons, and no longer than it helps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cli import clusters, names, options, problems, scene, targets, telling
from ingressctl.cli.output import Printer
from ingressctl.cli.problems import CommandFault, Problem
from ingressctl.cli.scene import Scene
from ingressctl.core.world import Kind, World
from ingressctl.plan import describing, kindnames, waiting, written
from ingressctl.plan.waiting import Outlook, Wish

if TYPE_CHECKING:
    from ingressctl.cluster.following import Seen
    from ingressctl.cluster.readonly import Question

FOLLOWED: frozenset[Kind] = frozenset(
    (
        ("apps", "Deployment"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "InferenceGraph"),
        ("serving.knative.dev", "Service"),
        ("networking.istio.io", "VirtualService"),
        ("gateway.networking.k8s.io", "HTTPRoute"),
        ("networking.k8s.io", "Ingress"),
        *(resource.identity for resource in kindnames.BENEATH),
    )
)
"""Kinds whose changes may make an object ready, or tell why it is not."""


@options.command
def command(
    *,
    target: names.Object,
    wished: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="condition=TYPE[=STATUS]",
            autocompletion=options.values("condition=Ready"),
            help="What is waited for.",
        ),
    ] = "condition=Ready",
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout", metavar="DURATION", help="How long, such as 90s or 10m; 0 looks once."
        ),
    ] = "5m",
    given: options.Inputs,
    rules: options.Rules,
    chosen: options.Providers,
    base: options.Base,
    talk: options.Talk,
) -> None:
    """Wait until an object is ready, and say what it waits for.

    Each new reason is a line with the seconds that have passed. The wait ends early where no
    patience helps: admission refuses the object, a CRD is missing, the configuration cannot be
    read, a foreign object stands in the place, a host is taken, a Deployment gave up.
    Files do not change, so they are looked at once.

    Ends with 0 when it is ready, with 3 when it is not in time or cannot become so by itself,
    and with 2 if there is no such object, or if files hold one that is refused.

    Examples:
      ingressctl wait isvc/model                                # needs a kubeconfig
      ingressctl wait isvc/model --timeout 10m -q               # needs a kubeconfig
      ingressctl wait deploy/model-predictor --for condition=Available
    """
    with telling.guarded(talk) as printer:
        targets.split(target)
        wish = _wish(wished)
        seconds = clusters.parse_duration(timeout, "--timeout") or 0.0
        shown = scene.build(
            given, rules, chosen, base, printer, need_files=False, whole=True, beneath=True
        )
        waiter = _Waiter(target, wish, shown, printer, given.namespace)
        fault = waiter.start()
        if shown.on_cluster and not shown.laid.written and seconds and not waiter.is_over:
            waiter.follow(base, seconds)
        code = waiter.told()
        raise typer.Exit(problems.FAULT if fault else code)


def _wish(text: str) -> Wish:
    try:
        return waiting.parse(text)
    except waiting.WishFault as fault:
        raise CommandFault.of(
            f"--for: {fault}", "write --for condition=Ready or condition=TYPE=False"
        ) from None


class _Waiter:
    """One wait: looks again when something changed, and tells what is new."""

    def __init__(
        self, target: str, wish: Wish, shown: Scene, printer: Printer, namespace: str
    ) -> None:
        self._target = target
        self._wish = wish
        self._shown = shown
        self._printer = printer
        self._namespace = namespace
        self._began = time.monotonic()
        self._last = ""
        self._repeated = False
        self._told_rights: set[str] = set()
        self._outlook = Outlook(False)
        self._ref = Ref("", "", "", "")
        self._made = written.Derived(shown.laid.world, ())

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self._outlook.met or self._outlook.over

    def start(self) -> bool:
        """The first look; whether something that was written does not follow."""
        shown = self._shown
        self._made = written.derive(
            shown.laid, shown.settings, now=shown.now, providers=shown.providers
        )
        fault = telling.of_derived(self._made, shown, self._printer)
        obj = targets.find(self._target, shown, self._made.world, namespace=self._namespace)
        self._ref = ref_of(obj)
        self._look(obj, self._made.world)
        return fault

    def follow(self, base: options.Base, seconds: float) -> None:
        """Looks at every change until the wait is over or the time is up."""
        from ingressctl.cluster import connection, following  # noqa: PLC0415 - half a second

        left = seconds - (time.monotonic() - self._began)
        try:
            following.follow(
                self._questions(),
                clusters.choice(base),
                self._see,
                seconds=max(left, 0.1),
                home=self._ref.namespace,
            )
        except connection.Unusable as fault:
            raise CommandFault.of(str(fault), "check kubeconfig and network") from None

    def _questions(self) -> tuple[Question, ...]:
        from ingressctl.cluster.readonly import HOME, Question  # noqa: PLC0415 - half a second

        return tuple(
            Question(resource, (HOME,) if resource.namespaced else ())
            for resource in kindnames.EVERY
            if resource.identity in FOLLOWED or resource.identity == self._ref[:2]
        )

    def _see(self, seen: Seen) -> bool:
        """What came: the world is that of before with the followed kinds as they are now."""
        clusters.tell_refused(
            (item for item in seen.refused if self._is_new(f"{item}")), self._printer
        )
        blind = {item.resource.identity for item in seen.refused if item.verb == "list"}
        present = tuple(clusters.readable(seen.objects))
        refs = {ref_of(obj) for obj in present}
        followed = {*FOLLOWED, self._ref[:2]} - blind
        before = self._shown.laid.world
        gone = [
            ref
            for kind in followed
            for ref in map(ref_of, before.list(kind, self._ref.namespace))
            if ref not in refs
        ]
        world = before.overlay(present, without=gone)
        obj = world.get(self._ref)
        if obj is None:
            self._outlook = Outlook(False, describing.Cause(self._ref, "", "it was deleted"), True)
        else:
            self._look(obj, world)
        return self.is_over

    def _is_new(self, text: str) -> bool:
        if text in self._told_rights:
            return False
        self._told_rights.add(text)
        return True

    def _look(self, obj: Raw, world: World) -> None:
        shown = self._shown
        told = describing.describe(
            obj,
            world,
            shown.settings,
            now=shown.now,
            providers=shown.providers,
            carried=self._made.carried,
            blind=bool(shown.refused),
        )
        if waiting.is_silent(told, self._wish):
            owner = f"{told.owners[-1]}" if told.owners else ""
            raise _silent(self._ref, told.owners[-1].ref if owner else None)
        self._outlook = waiting.look(told, self._wish, shown.settings)
        if self._outlook.cause is not None:
            self._say(self._outlook.cause.text)

    def _say(self, text: str) -> None:
        """A new reason with the seconds that have passed; of repeats only the first is marked."""
        if text != self._last:
            self._printer.say(f"{time.monotonic() - self._began:7.1f}s {text}")
            self._last, self._repeated = text, False
        elif not self._repeated:
            self._printer.say(f"{'':8} ...")
            self._repeated = True

    def told(self) -> int:
        """Says how it ended; the exit code."""
        resource = kindnames.BY_IDENTITY[self._ref.group, self._ref.kind]
        name = f"{kindnames.one(resource)}/{self._ref.name}"
        if self._outlook.met:
            self._printer.data([f"{name} condition met"])
            return problems.SAME
        cause = self._outlook.cause
        said = cause and (cause.own_words if cause.ref == self._ref else cause.text)
        words = f"{self._ref} {self._ending()}: {said or 'it says no reason'}"
        remedy = cause.help if cause and cause.help else f"see ingressctl describe {name}"
        self._printer.problem(Problem(words, remedy))
        return problems.NOT_READY

    def _ending(self) -> str:
        wished = "ready" if self._wish.is_ready else f"{self._wish.type}={self._wish.status}"
        if self._outlook.over:
            return f"will not become {wished}"
        if not self._shown.on_cluster or self._shown.laid.written:
            return f"is not {wished}"
        return f"is not {wished} after {time.monotonic() - self._began:.0f}s"


def _silent(ref: Ref, owner: Ref | None) -> CommandFault:
    """Nothing would ever end the wait."""
    said = f"{ref} never says whether it is ready, for objects of its kind have no such condition"
    if owner is None:
        return CommandFault.of(said, "wait for the object that it belongs to")
    return CommandFault.of(
        said, f"wait for what it belongs to: ingressctl wait {owner.kind.lower()}/{owner.name}"
    )
