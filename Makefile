# `make help` lists the targets. Each makes its own environment in .venv (.venv-bench for the benchmarks); nothing else is touched.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE  # rewriting the asserts of all tests takes each worker six seconds; the bytecode is cached
ENGINE := pyproject.toml CMakeLists.txt $(shell find engine -type f)
# Three workers on two cores, since many tests wait; the fixtures of a file are made once.
PYTEST := $(BIN)/python -m pytest -q -n 3 --dist loadscope
NOT_TESTS := --ignore-glob='*/teaching/lessons/*' --ignore=tests/system/site --ignore=tests/system/typing --ignore=docs/site
FUZZ_SECONDS ?= 6
# A change is judged by the same inputs each time; new ones are drawn every week, by FUZZ_SEED=$RANDOM.
FUZZ_SEED ?= 1

.PHONY: help demo test test-all lint docs bench wheel clean
help: # this list
	@sed -n "s/^\([a-z-]*\):.*# /\1:/p" Makefile | column -t -s:

demo: .venv/.run # train and evaluate the family on real data, with the verdict
	$(BIN)/rosenblatt demo

test: .venv/.dev # the tests, in about five minutes; says what it skips and why
	$(PYTEST) -m "not slow" --doctest-modules --doctest-glob='*.md' --pyargs rosenblatt tests README.md docs $(NOT_TESTS)

test-all: .venv/.dev # the rest: slow tests, long forms of the others, fuzzing
	ROSENBLATT_PROOFS=1 $(PYTEST) -m "slow or long or hypothesis" tests $(NOT_TESTS)
	tools/fuzz/parsers.sh $(FUZZ_SECONDS) $(FUZZ_SEED)
	$(BIN)/python tools/fuzz/mutate.py $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	$(BIN)/python tools/fuzz/guided.py $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

lint: .venv/.dev # ruff, mypy, pyright, import-linter, clang-format, biome, zizmor, prose
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/python tools/prose.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(filter %.hpp %.cpp %.h,$(ENGINE))
	npx --yes @biomejs/biome@2.6.6 ci
	$(BIN)/mypy --strict tests/system/typing/user.py
	$(BIN)/pyright
	$(BIN)/zizmor --offline --quiet .github/workflows

docs: .venv/.dev # the site, in build/site/index.html; warnings and broken links are errors
	$(BIN)/python -m sphinx -q -W --keep-going -b html -j auto -c docs/site . build/site
	$(BIN)/python -m pytest -q tests/system/site

bench: .venv-bench/.installed # all benchmarks, in half an hour; `benchmarks/run.py --quick` takes two minutes
	.venv-bench/bin/python benchmarks/run.py

wheel: # the source distribution and the wheels, in dist/, each tried in an empty environment
	PYTHON=$(PYTHON) packaging/dist.sh

clean: # remove what the targets made
	rm -rf .venv .venv-* build dist

# One lock: what a user installs first, what only development needs after the marker. `tools/lock.sh` writes it.
build/run.lock: requirements.lock
	mkdir -p build && sed '/^# Development/,$$d' $< > $@

# Installed as a user would, with the engine compiled for this CPU alone (half the time).
.venv/.run: build/run.lock $(ENGINE) $(shell find src -name '*.py')
	test -d .venv || $(PYTHON) -m venv .venv
	@test -f .venv/.dev || echo "Fetching the dependencies and compiling the engine: about a minute"
	test -f .venv/.dev || $(BIN)/pip install --quiet --no-compile --require-hashes -r build/run.lock
	test -f .venv/.dev || $(BIN)/pip install --quiet --no-compile --no-deps --no-build-isolation -C cmake.define.ROSENBLATT_NATIVE=ON .
	touch $@

# Editable: Python is read from src, so that only a change of the engine installs again, and compiles what changed.
.venv/.dev: requirements.lock $(ENGINE)
	test -d .venv || $(PYTHON) -m venv .venv
	@echo "Fetching the dependencies and compiling the engine: three minutes"
	$(BIN)/pip install --quiet --no-compile --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -C build-dir=build/dev --editable .
	cp .venv/lib/python*/site-packages/rosenblatt/_engine_baseline.pyi src/rosenblatt  # for mypy
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests/' .venv/lib
	touch $@

.venv-bench/.installed: $(ENGINE) benchmarks/requirements.lock $(shell find src -name '*.py')
	test -d .venv-bench || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --no-compile --require-hashes -r benchmarks/requirements.lock
	.venv-bench/bin/pip install --quiet --no-deps --no-build-isolation -C build-dir=build/bench .
	touch $@
