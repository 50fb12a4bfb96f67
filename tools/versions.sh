#!/bin/sh
# The tests with the oldest versions that pyproject.toml allows, or the newest, pre-releases too: versions.sh oldest|newest. It needs uv.
set -eu
cd "$(dirname "$0")/.."
test "$1" = oldest && how="--resolution lowest-direct" || how="--upgrade --prerelease allow"
test -d ".venv-$1" || uv venv --python 3.11 ".venv-$1"
# shellcheck disable=SC2086
VIRTUAL_ENV=".venv-$1" uv pip install --quiet $how --group build --group test --all-extras -r pyproject.toml
VIRTUAL_ENV=".venv-$1" uv pip install --quiet --no-deps --no-build-isolation -C build-dir="build/$1" .
".venv-$1/bin/python" -m pytest -q -n 3 --dist loadscope -m "not slow" tests --ignore=tests/system/site --ignore=tests/system/typing
