# What a person calls; .ci/run calls the same. Everything is set up on the way.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Without a target nothing long begins.
help:
	@echo "make demo   routes of two models on real traffic, on this machine"
	@echo "make test   all tests that need no cluster, with a real Envoy"
	@echo "make check  formatting, types, and which way data flows"
	@echo "make e2e    on a real API server, istiod and pods (needs Go); make e2e-shell to look around"
	@echo "make bench  the figures that are promised; make soak for long runs"

.PHONY: help test e2e soak e2e-shell check bench demo readme chart lock clean

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests

# On a real cluster, built from Go modules once a machine; without Go it says so and skips.
e2e: $(STAMP)
	$(BIN)/python -m e2e.bed build
	$(BIN)/python -m e2e.pods.images.kserve_home
	$(BIN)/python -m e2e.pods.private $(BIN)/python -m pytest -rs e2e $(ARGS)

# As in e2e, but for SOAK_SECONDS, with the seed SOAK_SEED, and a rollout for each write.
SOAK_SECONDS ?= 3600
SOAK_SEED ?= 1
soak: $(STAMP)
	INGRESSCTL_SOAK_SECONDS=600 $(BIN)/python -m pytest tests/soak
	$(BIN)/python -m e2e.bed build
	INGRESSCTL_CHAOS_SECONDS=$(SOAK_SECONDS) INGRESSCTL_CHAOS_SEED=$(SOAK_SEED) $(BIN)/python -m pytest -rs e2e/test_chaos.py
	INGRESSCTL_EVERY_WRITE=1 $(BIN)/python -m e2e.pods.private $(BIN)/python -m pytest -rs e2e/test_load.py e2e/test_load_envoy.py

e2e-shell: $(STAMP)
	@$(BIN)/python -m e2e.bed shell

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m tests.bench

demo: $(STAMP)
	$(BIN)/python -m tests.demo

readme: $(STAMP)
	$(BIN)/python -m tests.readme.sections

$(STAMP): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is missing: install Python 3.11 or newer, or name it with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than 3.11: name a newer one with PYTHON=..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

chart: $(STAMP)
	$(BIN)/python -m tests.unit.chart.files

lock: $(STAMP)
	$(BIN)/python -m piptools compile -q --all-extras --generate-hashes --strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header \
	    --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
