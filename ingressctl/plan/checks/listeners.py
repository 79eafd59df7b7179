"""Routes that no listener of their gateway admits, and what reading back found (F54).

Providers read their objects as gateways attach them; what is refused everywhere at an
entry is served nowhere there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Table
from ingressctl.core.world import Kind
from ingressctl.plan.checks.picture import GATEWAY, ISTIO_GATEWAY, Picture

READ = ("istio", "gateway_api", "ingress")
"""Providers whose objects may be somebody else's as well."""

NEEDS: Mapping[str, Kind] = {"gateway_api": GATEWAY}
"""Without one of these in the world nothing is refused, and reading is in vain."""

GATEWAYS: Mapping[str, tuple[Kind, ...]] = {
    "gateway_api": (GATEWAY,),
    "istio": (ISTIO_GATEWAY,),
}
"""The kind of a provider's entries."""

TOLD_ELSEWHERE = frozenset({"IC5002", "IC3304", "IC3307"})
"""Of what reading finds: absent gateways and backends are checked with the whole world in
view, and what is not evaluated matters to explain alone."""


def find(picture: Picture) -> Iterator[Finding]:
    """Refused routes, and what could not be read, of every provider."""
    for name in READ:
        provider = picture.reads.providers.get(name)
        if provider is None:
            continue
        objects = [obj for kind in provider.kinds for obj in picture.world.list(kind)]
        if not objects or (name in NEEDS and not picture.world.holds(NEEDS[name])):
            continue
        table = provider.read(objects, reads=picture.reads)
        yield from _refused(table, picture)
        yield from (item for item in table.findings if item.code not in TOLD_ELSEWHERE)
        for rule, text in table.pattern_faults(trusted=picture.made):
            yield Finding.of("IC3305", rule.source, path=rule.name, text=text)


def _refused(table: Table, picture: Picture) -> Iterator[Finding]:
    served = {
        (rule.source, entry)
        for virtual_host in table.hosts
        for entry in virtual_host.entries
        for rule in virtual_host.rules
    }
    reasons: dict[tuple[Ref, str], dict[str, None]] = defaultdict(dict)
    for refusal in table.refusals:
        if (refusal.source, refusal.entry) not in served:
            reasons[refusal.source, refusal.entry][refusal.reason] = None
    for (source, entry), why in reasons.items():
        named = (source, picture.owner(source), *_gateway(table.provider, entry, picture))
        yield Finding.of("IC5009", *named, entry=entry, reasons="; ".join(why))


def _gateway(provider: str, entry: str, picture: Picture) -> Iterator[Ref]:
    """The Gateway that an entry names, where the world has it."""
    namespace, _, name = entry.rpartition("/")
    for kind in GATEWAYS.get(provider, ()):
        ref = Ref(*kind, namespace, name)
        if picture.world.get(ref) is not None:
            yield ref
