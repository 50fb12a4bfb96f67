# demo · test · lint · sanitize · bench · docs. Each makes its own environment in .venv; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find engine src -type f -not -name '*.pyc')

.PHONY: demo test lint sanitize clean

demo: $(VENV)/.installed
	$(BIN)/rosenblatt demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' --pyargs rosenblatt tests README.md docs

lint: $(VENV)/.installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

sanitize: $(VENV)/.installed
	tests/sanitize.sh $(BIN)/python

$(VENV)/.installed: $(SOURCES)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet ".[test,lint]"
	touch $@

clean:
	rm -rf $(VENV) build dist
