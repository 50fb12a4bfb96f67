# demo · test · lint · docs · dist · clean-room · sanitize · fuzz · attacks · kills · torture · bench. Each makes its own environment, in .venv or .venv-*; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
# What pip would put into an environment of its own for every build: kept here, so that only what changed is compiled again.
BUILD := "scikit-build-core>=0.10" "nanobind>=3,<4" "cmake>=3.26" $(shell command -v ninja > /dev/null || echo ninja)
# Every version and the hash of every file, written by `make lock`: what is fetched is what was tested, or nothing.
LOCKED := pip install --quiet --no-compile --require-hashes
export PIP_DISABLE_PIP_VERSION_CHECK := 1
SOURCES := pyproject.toml CMakeLists.txt $(shell find engine src -type f -not -name '*.pyc')

.PHONY: demo test lint lock docs dist clean-room sanitize fuzz fuzz-long attacks kills torture bench bench-quick bench-guard clean

demo: $(VENV)/.base
	$(BIN)/rosenblatt demo

test: $(VENV)/.installed
	tests/playground/browser.sh
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' --pyargs rosenblatt tests README.md docs --ignore=docs/site --ignore=tests/site

lint: $(VENV)/.installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror engine/*.hpp engine/*.cpp engine/bindings/*
	npx --yes @biomejs/biome@2.6.6 ci
	$(BIN)/mypy --strict tests/typing/user.py
	$(BIN)/pyright
	$(BIN)/zizmor --offline --quiet .github/workflows

# The site, in build/site: open build/site/index.html. Warnings are errors, and every link is checked.
docs: $(VENV)/.installed
	$(BIN)/pip install --quiet "rosenblatt[docs]"
	tests/playground/browser.sh
	$(BIN)/python -m sphinx -q -W --keep-going -b html -j auto -c docs/site . build/site
	$(BIN)/python -m pytest -q tests/site

# The source distribution and the wheels, in dist/, tried in empty environments.
dist:
	PYTHON=$(PYTHON) packaging/dist.sh

# What a newcomer does, without a compiler, timed: the wheel of dist/, the quickstart word for word, the demo.
clean-room:
	test -n "$$(ls dist/*.whl 2> /dev/null)" || $(MAKE) dist
	PYTHON=$(PYTHON) packaging/clean.sh

# A server is killed 200 times while clients learn; `make test` does it 20 times.
torture: $(VENV)/.installed
	ROSENBLATT_KILLS=200 $(BIN)/python -m pytest -q tests/service/test_torture.py

sanitize: $(VENV)/.installed
	tests/sanitize.sh $(BIN)/python

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py

bench-quick: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py --quick

bench-guard:
	$(PYTHON) benchmarks/instructions.py --guard

# So many seconds for each of the doors; the counts are printed.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.installed
	tests/fuzz/parsers.sh $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz/doors.py $(FUZZ_SECONDS)

# Half an hour for each.
fuzz-long:
	$(MAKE) fuzz FUZZ_SECONDS=1800

# What once did harm, with the numbers of then.
attacks: $(VENV)/.installed
	$(BIN)/python tests/fuzz/attacks.py

# Runs killed by `kill -9` in their middle, resumed, and compared with undisturbed ones.
KILLS ?= 1000
kills: $(VENV)/.installed
	$(BIN)/python tests/kills/kills.py $(KILLS)

# What a user installs, and nothing else. Bytecode is made of what is imported, when it is.
$(VENV)/.base: $(SOURCES)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Fetching the dependencies and compiling the engine: about a minute"
	$(BIN)/$(LOCKED) -r requirements/run.txt -r requirements/tools.txt
	$(BIN)/pip install --quiet --no-compile --no-deps --no-build-isolation .
	touch $@

$(VENV)/.installed: $(VENV)/.base
	@echo "Fetching what the tests and linters need, into $(VENV)"
	$(BIN)/$(LOCKED) -r requirements/test.txt
	touch $@

# New versions, for all platforms; it needs uv.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock"
lock:
	$(LOCK) pyproject.toml requirements/build.in -o requirements/run.txt
	$(LOCK) requirements/tools.in -o requirements/tools.txt
	$(LOCK) pyproject.toml requirements/build.in --extra test --extra lint -c requirements/run.txt -o requirements/test.txt

$(BENCH)/.installed: $(SOURCES) benchmarks/requirements.txt
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet $(BUILD)
	$(BENCH)/bin/pip install --quiet --no-build-isolation -C build-dir=build/bench ".[theory,plot,serve]" -r benchmarks/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) .venv-* build dist
