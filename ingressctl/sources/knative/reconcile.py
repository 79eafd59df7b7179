"""A Knative Service as a source of routes, for proxies that we serve ourselves.

Where another provider serves the routes, Knative's own networking layer makes this hop.
"""

from __future__ import annotations

from datetime import datetime

from ingressctl.api import configmaps
from ingressctl.api.refs import Raw
from ingressctl.core import naming
from ingressctl.core.outcome import Fault, Keep, Outcome
from ingressctl.core.world import Reads
from ingressctl.sources.knative import traffic

PROVIDER = "envoy"


def reconcile(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """The traffic of one Knative Service; nothing of it is written."""
    try:
        route = traffic.route(obj, reads=reads)
    except (naming.NameFault, configmaps.ConfigFault) as fault:
        return Outcome(faults=(Fault(str(fault), "routes"),), keep=Keep(everything=True))
    return Outcome(routes=(route,) if route else (), provider=PROVIDER)
