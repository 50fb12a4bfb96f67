# demo · test · lint · sanitize · fuzz · bench. Each makes its own environment, in .venv or .venv-bench; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
# What pip would put into an environment of its own for every build: kept here, so that only what changed is compiled again.
BUILD := "scikit-build-core>=0.10" "nanobind>=3,<4" $(foreach tool,cmake ninja,$(shell command -v $(tool) > /dev/null || echo $(tool)))
export PIP_DISABLE_PIP_VERSION_CHECK := 1
SOURCES := pyproject.toml CMakeLists.txt $(shell find engine src -type f -not -name '*.pyc')

.PHONY: demo test lint sanitize lost-workers fuzz fuzz-long bench bench-quick bench-guard clean

demo: $(VENV)/.base
	$(BIN)/rosenblatt demo

test: $(VENV)/.installed
	tests/playground/browser.sh
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' --pyargs rosenblatt tests README.md docs

lint: $(VENV)/.installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror engine/*.hpp engine/*.cpp engine/bindings/*
	npx --yes @biomejs/biome@2.6.6 ci

sanitize: $(VENV)/.installed
	tests/sanitize.sh $(BIN)/python

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py

bench-quick: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py --quick

bench-guard:
	$(PYTHON) benchmarks/instructions.py --guard

FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.installed
	mkdir -p build
	$(CXX) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iengine -o build/fuzz tests/fuzz/parse.cpp
	for target in svmlight "svmlight labels" vw "vw labels" fasttext tabbed; do build/fuzz "$$target" $(FUZZ_SECONDS) || exit 1; done
	$(CXX) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iengine -o build/fuzz-records tests/fuzz/records.cpp
	build/fuzz-records $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz/doors.py $(FUZZ_SECONDS)

# Thirty workers killed at random moments, with the state held now and then, and after every mix.
lost-workers: $(VENV)/.installed
	ROSENBLATT_KILLS=30 $(BIN)/python -m pytest -q tests/cluster/test_losses.py -k killed

# Half an hour for each of the doors.
fuzz-long:
	$(MAKE) fuzz FUZZ_SECONDS=1800

# What a user installs, and nothing else. Bytecode is made of what is imported, when it is.
$(VENV)/.base: $(SOURCES)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile $(BUILD)
	@echo "Fetching the dependencies and compiling the engine: about a minute"
	$(BIN)/pip install --quiet --no-compile --no-build-isolation .
	touch $@

$(VENV)/.installed: $(VENV)/.base
	@echo "Fetching what the tests and linters need, into $(VENV)"
	$(BIN)/pip install --quiet --no-compile "rosenblatt[test,lint]"
	touch $@

$(BENCH)/.installed: $(SOURCES) benchmarks/requirements.txt
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet $(BUILD)
	$(BENCH)/bin/pip install --quiet --no-build-isolation -C build-dir=build/bench ".[theory,plot]" -r benchmarks/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) build dist
