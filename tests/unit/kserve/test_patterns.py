"""Which requests ask for an explanation (spec/kserve-ingress.md 4 and Q19)."""

from __future__ import annotations

import re

import pytest

from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World
from ingressctl.sources.kserve import patterns

PLAIN = "/v1/models/iris:explain"
UNUSUAL = (
    "/v1/models/my.model:explain",
    "/v1/models/team/iris:explain",
    "/v1/models/iris:1:explain",
    "/v2/models/iris/explain",
    "/v2/models/team%2Firis/versions/1/explain",
)
OTHERS = ("/v1/models/iris:predict", "/v2/models/explain/infer", "/v1/models/a:explain/more")


def reads(compat: str) -> Reads:
    return Reads(World.of(()), Settings(compat=Compat.parse(compat)), providers={})


def asks(path: str, compat: str) -> bool:
    (match,) = patterns.explain(reads(compat))
    assert match.path is not None
    return re.search(match.path.value, path) is not None


@pytest.mark.parametrize("path", UNUSUAL)
def test_any_model_name_and_both_protocols(path: str) -> None:
    assert asks(path, "better")
    assert not asks(path, "kserve")
    below = re.search(patterns.path_explain("/serving/team-a/iris", reads("better")), _below(path))
    assert below is not None
    assert below[1] == path


def _below(path: str) -> str:
    return f"/serving/team-a/iris{path}"


@pytest.mark.parametrize("compat", ["kserve", "better"])
def test_other_requests_are_left_to_the_predictor(compat: str) -> None:
    assert asks(PLAIN, compat)
    assert not any(asks(path, compat) for path in OTHERS)


def test_exact_paths_where_no_expression_may_be_used() -> None:
    assert patterns.explain_paths("iris", reads("kserve")) == (PLAIN,)
    assert patterns.explain_paths("iris", reads("better")) == (PLAIN, "/v2/models/iris/explain")
