#!/usr/bin/env bash
# The engine's tests under AddressSanitizer and UBSan: a build of its own beside the environment's.
set -euo pipefail
python=$1
here=$(cd "$(dirname "$0")/.." && pwd)
target=$here/build/sanitize
rm -rf "$target/site" && mkdir -p "$target"
"$python" -m pip install --quiet --no-deps --target "$target/site" \
  -Cbuild-dir="$target/cmake" -Ccmake.define.ROSENBLATT_SANITIZE=ON "$here"
cd "$target"
asan=$(g++ -print-file-name=libasan.so)
# CPython itself does not free everything at exit, and NumPy allocates what it may not get: neither is the engine's.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD=$asan PYTHONPATH=$target/site "$python" -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" --rootdir "$here" \
  "$here/tests/test_engine.py" "$here/tests/learners/test_equals_textbook.py" "$here/tests/learners/test_stream.py" \
  "$here/tests/learners/test_laws.py"
