# make demo    a benchmark in small places, with report and video, in results/demo
# make test    every test that needs no root          make test-all  the slow truth tests too
# make check   format, lint, types, imports           make bench     speed, against peers and plain C
# make docs    the manual, in docs/_build/html        make clean     what these made
# make lock    the newest versions that fit, pinned in requirements.lock

# The newest Python that runs here and can make an environment: a name on the path may be a version manager's empty shim.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, venv' >/dev/null 2>&1 && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

.PHONY: demo test test-all check bench docs lock clean

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Agora needs Python 3.11 or newer with its venv module; name one: make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Agora needs Python 3.11 or newer; name one: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.%: pyproject.toml requirements.lock $(VENV)/.runtime
	$(INSTALL) --editable '.[$*]'
	@touch $@

demo: $(VENV)/.runtime
	@rm -rf results/demo
	$(BIN)/agora bench demo --planner dwa_kinetic --planner orca --planner social_force --planner go_to_goal --output results/demo --video 1

test: $(VENV)/.test
	$(BIN)/python -m pytest -m 'not slow'

test-all: $(VENV)/.test
	$(BIN)/python -m pytest

check: $(VENV)/.test $(VENV)/.check
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

lock:
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check '.[test,check,docs,bench]'
	{ sed -n '/^#/p' requirements.lock; build/lock/bin/python -m pip freeze --exclude agora-nav | \
	  sed -E '/^(cuda|nvidia|triton)/d; s/\+.*//' | LC_ALL=C sort -f; } > build/requirements.lock
	mv build/requirements.lock requirements.lock

clean:
	rm -rf $(VENV) results docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
