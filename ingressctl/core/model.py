"""The route model: what every source makes and every provider lowers.

Frozen values, independent of who asked and of who emits. A `Route` is one owner's wish
under one name; rules hang under the hosts they are for, in order: the first rule that
matches wins, as in VirtualService and Envoy. Providers with another precedence (Gateway
API) emit so that the same rule wins, or report the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

from ingressctl.api.refs import Owner, Ref
from ingressctl.core.values import Value, replace

F = TypeVar("F")

HostKind = Literal["exact", "wildcard", "short"]
Reach = Literal["public", "local"]
Origin = Literal["template", "url", "internal", "tag", "alias", "additional", "shared", "former"]
Role = Literal["stable", "canary", "tag", "transformer", "explainer", "revision", "gateway"]
PathKind = Literal["exact", "prefix", "regex"]
EntryKind = Literal["gateway", "mesh", "class"]

Pairs = tuple[tuple[str, str], ...]
"""Header names and values in order; a name occurs once."""


class Host(Value, frozen=True):
    """A name that clients use. `reach` local hosts never meet a public entry.

    `kind` short is an in-cluster abbreviation (``name.ns``) of another host of the route.
    """

    name: str
    kind: HostKind = "exact"
    reach: Reach = "public"
    origin: Origin = "template"


class Entry(Value, frozen=True):
    """Where requests come in: a Gateway ``namespace/name``, the mesh, or an ingress class.

    `port` and `listener` narrow a Gateway; 0 and "" mean all of it.
    """

    kind: EntryKind
    name: str = ""
    listener: str = ""
    port: int = 0
    reach: Reach = "public"


MESH = Entry("mesh", "mesh", reach="local")


class PathMatch(Value, frozen=True):
    """`prefix` is by path element: /a matches /a and /a/b, not /ab. `regex` is anchored."""

    kind: PathKind
    value: str


class HeaderMatch(Value, frozen=True):
    """One header; `regex` is anchored, `present` ignores the value."""

    name: str
    kind: Literal["exact", "regex", "present", "prefix"]
    value: str = ""


class Match(Value, frozen=True):
    """All parts must hold. Without parts it matches every request."""

    path: PathMatch | None = None
    headers: tuple[HeaderMatch, ...] = ()
    method: str = ""


ANY = (Match(),)


class SetHeaders(Value, frozen=True):
    """Request headers to set, replacing what the client sent; `add` puts a value behind it."""

    headers: Pairs
    remove: tuple[str, ...] = ()
    add: Pairs = ()


class RewriteHost(Value, frozen=True):
    """The Host that the backend sees."""

    host: str


class RewritePath(Value, frozen=True):
    r"""`prefix`: the matched prefix becomes `value`; `full`: the whole path does;
    `regex`: `pattern` is replaced by `value` with \\1 for groups."""

    kind: Literal["prefix", "full", "regex"]
    value: str
    pattern: str = ""


class Redirect(Value, frozen=True):
    """Answer with a redirect instead of a backend."""

    scheme: str = ""
    host: str = ""
    port: int = 0
    status: int = 301
    path: str = ""


Filter = SetHeaders | RewriteHost | RewritePath | Redirect


class Service(Value, frozen=True):
    """A Kubernetes Service as target."""

    namespace: str
    name: str


class External(Value, frozen=True):
    """A DNS name as target, such as the Service of the Knative local gateway.

    `entry` names the Gateway that listens there, so that the next hop is known.
    """

    host: str
    entry: str = ""


Target = Service | External


class Split(Value, frozen=True):
    """One backend of a rule. `weight` is a percentage; None where a rule has one backend
    and says nothing of weights. `headers` are set on requests that take this split."""

    target: Target
    port: int
    weight: int | None = None
    headers: Pairs = ()
    role: Role = "stable"


class Retries(Value, frozen=True):
    """`attempts` 0 switches a provider's own retries off."""

    attempts: int = 0
    on: tuple[str, ...] = ()


class Rule(Value, frozen=True):
    """`matches` are alternatives. `name` is stable and unique within a group.

    `timeout` is a Go duration of the whole request; "" leaves it to the provider,
    "0s" means no limit. `reason` is a sentence for explain and annotations.
    """

    name: str
    splits: tuple[Split, ...]
    matches: tuple[Match, ...] = ANY
    filters: tuple[Filter, ...] = ()
    timeout: str = ""
    retries: Retries | None = None
    reason: str = ""

    def filter(self, kind: type[F]) -> F | None:
        """The filter of that type, or None."""
        return next((item for item in self.filters if isinstance(item, kind)), None)


class Group(Value, frozen=True):
    """The same rules under the same hosts at the same entries.

    `suffix` distinguishes the objects of providers that need one object a group. `dead`
    rules are written but never reached: their entries are none of the route's.
    """

    hosts: tuple[Host, ...]
    entries: tuple[Entry, ...]
    rules: tuple[Rule, ...]
    suffix: str = ""
    dead: bool = False


class Tls(Value, frozen=True):
    """Certificate for hosts, in a Secret of the route's namespace."""

    hosts: tuple[str, ...]
    secret: str


class Route(Value, frozen=True):
    """Everything that one owner wants routed under one name.

    `ref` is the source's name for it (group and kind of the owner); providers derive
    their objects' names from `ref.name`. `part` tells which role the route plays.
    """

    ref: Ref
    owner: Owner
    groups: tuple[Group, ...]
    labels: Pairs = ()
    annotations: Pairs = ()
    tls: tuple[Tls, ...] = ()
    regex_paths: bool = True
    """False where the gateway refuses regular expressions in paths (F11)."""
    alias: str = ""
    """Host name that an in-cluster alias (ExternalName Service of the route's name) points
    to; "" makes none."""

    def hosts(self) -> Iterator[Host]:
        """Every host of every group, in order."""
        return (host for group in self.groups for host in group.hosts)

    def with_groups(self, groups: tuple[Group, ...]) -> Route:
        """The same route with other groups; itself if they are equal. Passes use it."""
        return self if groups == self.groups else replace(self, groups=groups)
