#!/bin/sh
# The engine by clang; warnings are errors. It needs `make test`'s environment.
set -eu
cd "$(dirname "$0")/.."
CXX=clang++ .venv/bin/pip wheel --quiet --no-deps --no-build-isolation -w build/clang -C build-dir=build/clang -C cmake.define.ROSENBLATT_STRICT=ON .
