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
LD_PRELOAD=$preload PYTHONPATH=$target/site "$python" -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" --rootdir "$here" \
  "$here/tests/test_engine.py" "$here/tests/test_generator.py" "$here/tests/learners/test_equals_textbook.py" "$here/tests/learners/test_stream.py" \
  "$here/tests/learners/test_turns.py" "$here/tests/learners/test_many.py" \
  "$here/tests/learners/test_laws.py" "$here/tests/learners/test_kernel.py" "$here/tests/learners/test_kernel_budget.py" \
  "$here/tests/learners/test_files.py" "$here/tests/learners/test_scores_ahead.py" "$here/tests/learners/test_arow.py" "$here/tests/learners/test_penalty.py" "$here/tests/select/test_auto.py" \
  "$here/tests/select/test_sweep.py" "$here/tests/select/test_products.py" "$here/tests/data"
