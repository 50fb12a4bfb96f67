#!/bin/sh
# The same bits on other CPUs, proved: the engine is compiled for aarch64 and run under qemu; every hash must be that of this CPU,
# with and without AVX2. A model that one CPU writes gives the same scores on the others.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/bits
flags="-std=c++20 ${OPTIMIZE:--O2} -ffp-contract=off -Wall -Wextra -Wno-psabi -Iengine"
sources="tools/bits/bits.cpp $(ls engine/*.cpp)"

need() {
  command -v "$1" > /dev/null && return
  echo "$1 is missing: apt-get install g++-aarch64-linux-gnu qemu-user" >&2
  exit 1
}
build() { # name, compiler, flags: each source is compiled once
  objects=""
  for source in $sources; do
    object="build/bits/$1-$(basename "$source" .cpp).o"
    if [ ! -e "$object" ] || [ -n "$(find engine tools/bits -newer "$object" -name '*.[ch]pp')" ]; then
      # shellcheck disable=SC2086
      $2 $flags $3 -c -o "$object" "$source"
    fi
    objects="$objects $object"
  done
  # shellcheck disable=SC2086
  $2 -static -o "build/bits/$1" $objects
}

runs="baseline"
build baseline "${CXX:-g++}" ""
if [ "$(uname -m)" = x86_64 ]; then
  build avx2 "${CXX:-g++}" -mavx2
  runs="$runs avx2"
fi
for cpu in ${CPUS:-aarch64}; do
  need "$cpu-linux-gnu-g++"
  need "qemu-$cpu"
  build "$cpu" "$cpu-linux-gnu-g++" ""
  runs="$runs $cpu"
done
run() {
  case $1 in
    aarch64) name=$1 && shift && "qemu-$name" "build/bits/$name" "$@" ;;
    *) name=$1 && shift && "build/bits/$name" "$@" ;;
  esac
}

for name in $runs; do
  run "$name" > "build/bits/$name.txt"
  run "$name" write "build/bits/$name.model"
done
count=$(wc -l < build/bits/baseline.txt)
test "$count" -gt 100
for name in $runs; do
  cmp build/bits/baseline.model "build/bits/$name.model"
  for other in $runs; do run "$name" read "build/bits/$other.model"; done | sort -u > build/bits/scores.txt
  test "$(wc -l < build/bits/scores.txt)" = 1
  if ! diff build/bits/baseline.txt "build/bits/$name.txt" > build/bits/differences.txt; then
    echo "$name differs from baseline:" >&2
    head -20 build/bits/differences.txt >&2
    exit 1
  fi
  echo "$name: $count hashes, all the same; models of all CPUs give the same scores"
done
