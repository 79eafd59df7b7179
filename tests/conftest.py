"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared", deadline=None)
settings.load_profile("shared")  # tests never assert absolute times: the machine is shared
