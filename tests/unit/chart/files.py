"""The chart's files, and the one of them that is made: ``make chart`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ingressctl.cli import plugins
from ingressctl.plan import rights

ROOT = Path(__file__).resolve().parents[3]
CHART = ROOT / "templates" / "chart"
RIGHTS = CHART / "rights.yaml"
HEAD = """\
# Who may do what: the table of ingressctl/plan/rights.py, written by `make chart`.
# The roles of templates/rbac are chosen from it: `when` are the features of an
# installation that a role or a block of rules needs.
"""


def rights_text() -> str:
    """What rights.yaml has to be."""
    roles = rights.roles(plugins.providers().values())
    return HEAD + yaml.safe_dump(
        rights.document(roles), sort_keys=False, default_flow_style=None, width=100
    )


def values() -> dict[str, Any]:
    """The chart's values as shipped."""
    read: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return read


if __name__ == "__main__":
    RIGHTS.write_text(rights_text(), "utf-8")
