#!/usr/bin/env bash
# The engine's tests under AddressSanitizer and UBSan: a build of its own beside the environment's.
set -euo pipefail
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
target=$here/build/sanitize
rm -rf "$target/site" && mkdir -p "$target"
"$python" -m pip install --quiet --no-deps --no-build-isolation --target "$target/site" \
  -Cbuild-dir="$target/cmake" -Ccmake.define.ROSENBLATT_SANITIZE=ON "$here"
cd "$target"
# Python is no C++ program: the sanitizer must find what throws exceptions before the engine brings it.
preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
# CPython itself does not free everything at exit, and NumPy allocates what it may not get: neither is the engine's.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
tests=(unit/test_engine.py unit/learners/test_{equals_textbook,stream,kernel_perceptron,published,rules}.py
  laws/test_laws.py unit/select/test_{auto,sweep}.py unit/io)
LD_PRELOAD=$preload PYTHONPATH=$target/site "$python" -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" --rootdir "$here" \
  -m "not slow" "${tests[@]/#/$here/tests/}"
