# `make help` lists the targets. Each makes its own environment, in .venv or .venv-*; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
# What pip would put into an environment of its own for every build: kept here, so that only what changed is compiled again.
BUILD := "scikit-build-core>=0.10" "nanobind>=3,<4" "cmake>=3.26" $(shell command -v ninja > /dev/null || echo ninja)
# Every version and the hash of every file, written by `make lock`: what is fetched is what was tested, or nothing.
LOCKED := pip install --quiet --no-compile --require-hashes
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# To rewrite the asserts of all tests anew takes each worker six seconds: their bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := pyproject.toml CMakeLists.txt $(shell find engine src -type f -not -name '*.pyc')

.PHONY: help demo check test proofs lint lock bits compilers test-oldest test-newest docs dist clean-room sanitize fuzz fuzz-long attacks cuts kills interrupts torture lost-workers bench bench-quick bench-guard clean

# A worker more than two cores need, since many tests wait; what one file makes for its tests is made once.
PYTEST := -m pytest -q -n 3 --dist loadscope
ALL := --doctest-modules --doctest-glob='*.md' --pyargs rosenblatt tests README.md docs --ignore=docs/site --ignore=tests/site \
	--ignore=tests/fuzz --ignore=tests/typing
QUICK := -m "not slow"
# Browsers, servers, clusters and commands in processes of their own, published data and long searches: not for every change.
SLOW := tests/playground tests/golden tests/corners tests/benchmarks tests/nasty tests/cuts tests/docs tests/select tests/cluster \
	tests/service tests/kills tests/teaching tests/plot tests/test_hostile_calls.py tests/models/test_export.py \
	$(addprefix tests/cli/test_,files.py use.py documented.py predict.py products.py certify.py choice.py resume.py) \
	$(addprefix tests/data/test_,cache.py npy.py ipc.py) tests/theory/test_published.py \
	$(addprefix tests/learners/test_,sklearn.py files.py kernel_input.py)

help: # this list
	@sed -n "s/^\([a-z-]*\):.*# /\1:/p" $(MAKEFILE_LIST) | sort | column -t -s:

# Where nothing is installed yet, the engine is compiled for this CPU alone; all else compiles it for the other ones too.
demo: $(if $(wildcard $(VENV)/.base),$(VENV)/.base,$(VENV)/.native) # train and evaluate the family on real data, with the verdict
	$(BIN)/rosenblatt demo

check: $(VENV)/.installed # lint and the quick half of the tests
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python $(PYTEST) $(QUICK) tests $(SLOW:%=--ignore=%) --ignore=tests/site --ignore=tests/fuzz --ignore=tests/typing

test: $(VENV)/.installed # all tests but the long proofs; says what it fetches
	tests/packages.sh
	$(BIN)/python $(PYTEST) $(QUICK) $(ALL)

proofs: $(VENV)/.installed # what `make test` leaves out, and what it runs in a short form at full length
	ROSENBLATT_PROOFS=1 $(BIN)/python $(PYTEST) -m "slow or long or hypothesis" tests --ignore=tests/site --ignore=tests/fuzz --ignore=tests/typing

# The oldest versions that pyproject.toml allows, on Python 3.11, and the newest that there are, pre-releases too.
test-oldest: # the tests with the oldest versions that are allowed
	test -d .venv-oldest || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --no-compile -C build-dir=build/oldest -c requirements/oldest.txt ".[test]" "pyparsing<3.2"
	.venv-oldest/bin/python $(PYTEST) $(QUICK) $(ALL)

test-newest: # the tests with the newest versions, pre-releases too
	test -d .venv-newest || $(PYTHON) -m venv .venv-newest
	.venv-newest/bin/pip install --quiet --no-compile --upgrade --pre -C build-dir=build/newest ".[test]"
	.venv-newest/bin/python $(PYTEST) $(QUICK) $(ALL)

bits: # the same bits on aarch64 and s390x, under an emulator
	tests/bits/bits.sh

compilers: $(VENV)/.base # the engine by clang, and without vector extensions; warnings are errors
	CXX=clang++ $(BIN)/pip wheel --quiet --no-deps --no-build-isolation -w build/clang -C build-dir=build/clang -C cmake.define.ROSENBLATT_STRICT=ON .
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --force-reinstall -C build-dir=build/plain \
		-C cmake.define.ROSENBLATT_STRICT=ON -C cmake.define.ROSENBLATT_PLAIN=ON --target build/plain-engine .
	PYTHONPATH=$(CURDIR)/build/plain-engine ROSENBLATT_ISA=plain $(BIN)/python packaging/smoke.py

lint: $(VENV)/.installed # ruff, mypy, pyright, import-linter, clang-format, biome, zizmor
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror engine/*.hpp engine/*.cpp engine/bindings/* engine/loops/*
	npx --yes @biomejs/biome@2.6.6 ci
	$(BIN)/mypy --strict tests/typing/user.py
	$(BIN)/pyright
	$(BIN)/zizmor --offline --quiet .github/workflows

# The site, in build/site: open build/site/index.html. Warnings are errors, and every link is checked.
docs: $(VENV)/.installed # the site, in build/site
	tests/packages.sh
	$(BIN)/python -m sphinx -q -W --keep-going -b html -j auto -c docs/site . build/site
	$(BIN)/python -m pytest -q tests/site

# The source distribution and the wheels, in dist/, tried in empty environments.
dist: # the source distribution and the wheels
	PYTHON=$(PYTHON) packaging/dist.sh

# What a newcomer does, without a compiler, timed: the wheel of dist/, the quickstart word for word, the demo.
clean-room: # what a newcomer does with a wheel, timed
	test -n "$$(ls dist/*.whl 2> /dev/null)" || $(MAKE) dist
	PYTHON=$(PYTHON) packaging/clean.sh

torture: $(VENV)/.installed # a server killed 200 times while clients learn; the tests do it 6 times
	ROSENBLATT_KILLS=200 $(BIN)/python -m pytest -q tests/service/test_torture.py

sanitize: $(VENV)/.installed # the engine under AddressSanitizer and UBSan
	tests/sanitize.sh $(BIN)/python

bench: $(BENCH)/.installed # all benchmarks
	$(BENCH)/bin/python benchmarks/run.py

bench-quick: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py --quick

bench-guard:
	$(PYTHON) benchmarks/instructions.py --guard

# So many seconds for each of the doors; the counts are printed.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.installed # changed files at every door
	tests/fuzz/parsers.sh $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz/doors.py $(FUZZ_SECONDS)
	-$(BIN)/$(LOCKED) --only-binary :all: -r requirements/fuzz.txt
	$(BIN)/python tests/fuzz/guided.py $(FUZZ_SECONDS)

# Thirty workers killed at random moments, with the state held now and then, and after every mix.
lost-workers: $(VENV)/.installed
	ROSENBLATT_KILLS=30 $(BIN)/python -m pytest -q tests/cluster/test_losses.py tests/cluster/test_command.py

# Half an hour for each.
fuzz-long:
	$(MAKE) fuzz FUZZ_SECONDS=1800

# What once did harm, with the numbers of then.
attacks: $(VENV)/.installed
	$(BIN)/python tests/fuzz/attacks.py

# Every way to write a file, cut at every call to the system; the tests do it at some of them.
cuts: $(VENV)/.installed
	ROSENBLATT_CUTS=all $(BIN)/python -m pytest -q -n 2 tests/cuts

# Runs killed by `kill -9` in their middle, resumed, and compared with undisturbed ones.
KILLS ?= 1000
kills: $(VENV)/.installed
	$(BIN)/python tests/kills/kills.py $(KILLS)

# Ctrl-C to every verb, at random moments.
INTERRUPTS ?= 200
interrupts: $(VENV)/.installed
	$(BIN)/python tests/kills/interrupts.py $(INTERRUPTS)

# Bytecode of all that is installed, on all cores: pip would use one, and a Python that is told to write none would
# compile NumPy at every start of the command.
BYTECODE := -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib

# What a user installs, and nothing else.
define INSTALL
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Fetching the dependencies and compiling the engine: $(2)"
	$(BIN)/$(LOCKED) -r requirements/run.txt -r requirements/tools.txt
	$(BIN)/pip install --quiet --no-compile --no-deps --no-build-isolation -C cmake.define.ROSENBLATT_NATIVE=$(1) .
endef

# Python writes the bytecode of what the demo needs by itself; that of all that is installed takes ten seconds.
$(VENV)/.native: $(SOURCES)
	$(call INSTALL,ON,about a minute)
	touch $@

$(VENV)/.base: $(SOURCES)
	$(call INSTALL,OFF,two minutes)
	-$(BIN)/python $(BYTECODE)
	touch $@

$(VENV)/.installed: $(VENV)/.base
	@echo "Fetching what the tests and linters need, into $(VENV)"
	$(BIN)/$(LOCKED) -r requirements/test.txt
	-$(BIN)/python $(BYTECODE)
	touch $@

# New versions, for all platforms; it needs uv.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock"
lock:
	$(LOCK) pyproject.toml requirements/build.in -o requirements/run.txt
	$(LOCK) requirements/tools.in -o requirements/tools.txt
	$(LOCK) pyproject.toml requirements/build.in --extra test --extra lint --extra docs -c requirements/run.txt -o requirements/test.txt

$(BENCH)/.installed: $(SOURCES) benchmarks/requirements.txt
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet $(BUILD) setuptools wheel  # for peers without a wheel
	$(BENCH)/bin/pip install --quiet --no-build-isolation -C build-dir=build/bench ".[theory,plot,serve]" -r benchmarks/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) .venv-* build dist
