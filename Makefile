# make demo    a benchmark in small places, with report and video, in results/demo
# make test    every test that needs no root          make test-all  the slow truth tests too
# make check   format, lint, types, imports           make bench     speed, against peers and plain C
# make measured  the measurements of the manual: fresh, stale or missing; NAME='...' for some, ANEW=1 to make them
# make docs    the manual, in docs/_build/html        make clean     the outputs of these
# make ros     the ROS workspace, in build/ros, and a reader of bags; installs Debian's ROS packages or explains how
# make web     the pages of agora web, in src/agora/web/static; needs npm
# make types   the types of the pages, from the server's OpenAPI document
# make leaderboard  the entries of our own planners, again, in docs/leaderboard
# make upstreams  Flatland, Move Base Flex and Unity's endpoint as the manual builds them, each in an empty Debian; needs root, hours
# make lock    the newest versions that fit, pinned in requirements.lock

# Where ROS is, the system's Python has it; else the newest that runs here and can make an environment: a name on the path may be a
# version manager's empty shim.
ROS := $(and $(wildcard /usr/bin/catkin_make),$(wildcard /usr/lib/python3/dist-packages/rospy/__init__.py))
PYTHON ?= $(if $(ROS),/usr/bin/python3,$(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, venv' >/dev/null 2>&1 && echo $$python && break; done))
VENV ?= .venv
BIN := $(VENV)/bin
SPACE := $(CURDIR)/build/ros
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint requirements.lock

# Tests start hundreds of processes of Python. Without bytecode on disk, which containers often forbid, each compiles its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-ros check bench measured docs ros kernels graph-kernels test-kernels workspace web types pages leaderboard upstreams lock clean

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Agora needs Python 3.11 or newer with its venv module; name one: make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Agora needs Python 3.11 or newer; name one: make PYTHON=...")'
	$(PYTHON) -m venv $(if $(ROS),--system-site-packages) $(VENV)

$(VENV)/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.%: pyproject.toml requirements.lock $(VENV)/.runtime
	$(INSTALL) --editable '.[$*]'
	@touch $@

demo: $(VENV)/.runtime
	@rm -rf results/demo
	$(BIN)/agora bench demo --planner dwa_kinetic --planner orca --planner social_force --planner go_to_goal --output results/demo --videos 1

BOARD := docs/leaderboard
ENTERED := go_to_goal orca social_force dwa teb td3
leaderboard: $(VENV)/.runtime
	@rm -rf results/leaderboard
	for suite in demo single_pedestrian; do \
	$(BIN)/agora bench $$suite $(patsubst %,--planner %,$(ENTERED)) --output results/leaderboard/$$suite && \
	$(BIN)/agora bench $$suite --planner orca --pedestrians tracked --no-control --output results/leaderboard/$$suite-tracked || exit 1; done
	@rm -rf $(BOARD)
	$(BIN)/agora submit results/leaderboard/* --author Agora --replays 1 --output $(BOARD)

# One more process than cores: some tests wait for pages and for other processes. In the order of the tree the last files are short.
LIBRARY = $(BIN)/python -m pytest --numprocesses $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(MARKED) --ignore tests/ros
# Pytest first rewrites each test file's assertions, which takes half a minute. Without a cache, each worker would repeat this.
COLLECT = ls tests/__pycache__/test_files.*-pytest-*.pyc > /dev/null 2>&1 || $(BIN)/python -m pytest --collect-only -qq --ignore tests/ros > /dev/null
GRAPH = $(BIN)/python -m pytest $(MARKED) tests/ros

test: MARKED := -m 'not slow'
test test-all: $(VENV)/.test
	@$(beside)

# The pages are walked in Debian's Chromium.
ifneq ($(and $(shell command -v npm),$(shell command -v chromium)),)
test test-all: pages
endif

pages:
	@$(MAKE) --no-print-directory web || echo "The pages could not be built (see above), so nobody walks through them."

ifneq ($(ROS)$(filter true,$(CI)),)
test test-all: workspace

# Both at once, because the graph's tests mostly wait: what they say follows what the library's say.
define beside
mkdir -p build && echo "The ROS tests run beside the library's; until these are over they tell build/ros-tests.log how they stand."; \
nice -n 19 sh -c "$(COLLECT); exec $(LIBRARY)" & trap "kill $$! 2> /dev/null" INT TERM; \
$(GRAPH) > build/ros-tests.log 2>&1; ros=$$?; \
wait $$!; library=$$?; echo; echo "The ROS tests:"; cat build/ros-tests.log; \
[ $$library = 0 ] || echo "The library's tests have failed; see above."; exit $$((library | ros))
endef

test-ros: $(VENV)/.test workspace
	$(GRAPH)
else
define beside
$(COLLECT); $(LIBRARY) && $(MAKE) --no-print-directory test-ros
endef

test-ros:
	@echo "The ROS tests were not run: there is no ROS on this machine, or not all of it (make ros)."
endif

$(VENV)/.check: | $(VENV)/.test
check: $(VENV)/.check
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	@if test -f $(SPACE)/devel/setup.bash; then bash -c '. $(BIN)/activate; . $(SPACE)/devel/setup.bash; python benchmarks/ros.py'; fi

measured: $(VENV)/.test
	@$(BIN)/python docs/measurements/freshness.py $(if $(ANEW),--make) $(NAME)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fresh-env --write-all --fail-on-warning --keep-going --quiet docs docs/_build/html

ros:
	@docker/install-ros
	@! test -x $(BIN)/python || $(BIN)/python -c 'import rospy' 2>/dev/null || { echo "$(VENV) cannot see ROS and is made anew"; rm -rf $(VENV); }
	@$(MAKE) --no-print-directory workspace
	@$(if $(filter true,$(CI)),,$(MAKE) --no-print-directory kernels)

# Requirements of ROS, and before tests the kernels that two workers would otherwise both compile.
kernels: graph-kernels $(if $(filter true,$(CI)),test-kernels)

graph-kernels:
	@$(BIN)/agora warm

test-kernels: $(VENV)/.check
	@$(BIN)/python -m tests.kernels

# A message that has another one in it since the last build needs a new run of CMake.
BUILD = (. $(BIN)/activate && ROS_LANG_DISABLE=genlisp catkin_make $(1) --source src --build $(SPACE)/build \
	-DCATKIN_DEVEL_PREFIX=$(SPACE)/devel -DCMAKE_INSTALL_PREFIX=$(SPACE)/install -DPYTHON_EXECUTABLE=$(abspath $(BIN))/python install \
	> $(SPACE)/log 2>&1)

workspace: $(VENV)/.ros
	@$(BIN)/python -c 'import rospy' || { echo "$(VENV) cannot see ROS: run make ros, which makes it anew"; exit 1; }
	@src/interop/step_back
	@mkdir -p $(SPACE)
	@$(call BUILD,) || { grep -q "Please rerun cmake" $(SPACE)/log && $(call BUILD,--force-cmake); } || { cat $(SPACE)/log; exit 1; }
	@echo "The ROS workspace is built:  . build/ros/devel/setup.bash"

# STACKS: flatland, move_base_flex, teb, unity; others by python -m tests.upstreams --help.
upstreams: | $(BIN)/python
	$(BIN)/python -m tests.upstreams $(STACKS)

FRONT := src/agora/web/front
web:
	@command -v npm > /dev/null || { echo "make web needs npm, which comes with Node.js 18 or newer (Debian: apt install npm)"; exit 1; }
	npm --prefix $(FRONT) ci --silent
	@touch $(FRONT)/node_modules/CATKIN_IGNORE
	npm --prefix $(FRONT) run --silent build
	@echo "The pages are built; agora web shows them"

types: $(VENV)/.test
	$(BIN)/python -m tests.web.typescript

lock:
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,bench]'
	{ sed -n '/^#/p' requirements.lock; build/lock/bin/python -m pip freeze --exclude agora-nav | \
	  sed -E '/^(cuda|nvidia|triton)/d; s/\+.*//' | LC_ALL=C sort -f; } > build/requirements.lock
	mv build/requirements.lock requirements.lock

clean:
	rm -rf $(VENV) results docs/_build build dist src/CMakeLists.txt .catkin_* src/interop/*/CATKIN_IGNORE src/agora/web/static $(FRONT)/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
