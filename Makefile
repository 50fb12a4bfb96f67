# demo · test · lint · torture · sanitize · fuzz · bench · docs. Each makes its own environment, in .venv or .venv-bench; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
# What pip would put into an environment of its own for every build: kept here, so that only what changed is compiled again.
BUILD := "scikit-build-core>=0.10" "nanobind>=3,<4" cmake ninja
SOURCES := pyproject.toml CMakeLists.txt $(shell find engine src -type f -not -name '*.pyc')

.PHONY: demo test lint torture sanitize fuzz fuzz-long bench bench-quick bench-guard clean

demo: $(VENV)/.installed
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

FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.installed
	mkdir -p build
	$(CXX) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iengine -o build/fuzz tests/fuzz/parse.cpp
	for target in svmlight "svmlight labels" vw "vw labels" fasttext tabbed; do build/fuzz "$$target" $(FUZZ_SECONDS) || exit 1; done
	$(CXX) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iengine -o build/fuzz-records tests/fuzz/records.cpp
	build/fuzz-records $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz/doors.py $(FUZZ_SECONDS)

# Half an hour for each of the doors.
fuzz-long:
	$(MAKE) fuzz FUZZ_SECONDS=1800

$(VENV)/.installed: $(SOURCES)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip $(BUILD)
	$(BIN)/pip install --quiet --no-build-isolation ".[test,lint]"
	touch $@

$(BENCH)/.installed: $(SOURCES) benchmarks/requirements.txt
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --upgrade pip $(BUILD)
	$(BENCH)/bin/pip install --quiet --no-build-isolation -C build-dir=build/bench ".[theory,plot]" -r benchmarks/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) build dist
