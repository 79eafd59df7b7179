"""The memory of several processes: what was taken over last, whoever died over his own."""

from __future__ import annotations

from ingressctl.dataplane.router import graphs
from ingressctl.dataplane.router.sharing import Shared


def test_the_graph_that_any_process_took_last_is_kept() -> None:
    shared = Shared(3)
    assert shared.kept() == b""
    shared.keep(2, b"a longer one")
    assert shared.kept() == b"a longer one"
    shared.keep(0, b"the next")
    assert shared.kept() == b"the next"
    shared.keep(2, b"last")
    assert shared.kept() == b"last"


def test_the_largest_file_fits_into_the_part_of_each() -> None:
    shared = Shared(2)
    first, second = (bytes([char]) * graphs.MAX_BYTES for char in b"ab")
    shared.keep(0, first)
    shared.keep(1, second)
    assert shared.kept() == second
    shared.keep(0, first)
    assert shared.kept() == first


def test_one_that_was_not_written_to_its_end_is_left_out() -> None:
    shared = Shared(2)
    shared.keep(0, b"whole")
    shared.keep(1, b"broken")
    memory = shared._graphs._memory
    at = memory.find(b"broken")
    memory[at : at + 1] = b"x"
    assert shared.kept() == b"whole"
