#!/usr/bin/env bash
# The parsers of the engine, fuzzed for so many seconds each, twice: parsers.sh SECONDS [SEED]
# First under sanitizers, where clang is there by coverage, from the corpus beside this file. What that finds is kept in
# build/. Then as the engine is compiled, with the texts against pages that may not be touched: a hundred times as fast.
set -euo pipefail
seconds=$1
seed=${2:-$RANDOM}
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build/fuzz
# Where a sanitizer watches, the engine keeps no memory for later; clang has another name for that than the engine asks.
flags=(-std=c++20 -I"$here/../../engine" -D_GLIBCXX_ASSERTIONS)
watched=(-O1 -g -fno-sanitize-recover=all -D__SANITIZE_ADDRESS__=1)
mkdir -p "$build"
say() { printf '%-28s%14s%10s%10s%10s\n' "$@"; }
grouped() { sed -e :a -e 's/\(.*[0-9]\)\([0-9]\{3\}\)/\1,\2/;ta'; }

guided() { # name
  clang++ "${flags[@]}" "${watched[@]}" -DCOVERAGE_GUIDED -fsanitize=fuzzer,address,undefined -o "$build/guided-$1" "$here/$1.cpp"
  "$build/guided-$1" -max_total_time="$seconds" -timeout=1 -max_len=512 -print_final_stats=1 -seed="$seed" \
    -artifact_prefix="$build/found-$1-" "$build/corpus-$1" "$here/corpus/$1" >"$build/guided-$1.log" 2>&1 ||
    { tail -40 "$build/guided-$1.log"; exit 1; }
  sed -n 's/^stat::number_of_executed_units: *//p' "$build/guided-$1.log"
}
by_chance() { # name, program, compiler flags
  c++ "${flags[@]}" "${@:3}" -o "$build/$2-$1" "$here/$1.cpp"
  "$build/$2-$1" "$seconds" "$seed" "$here/corpus/$1" "$build/corpus-$1"
}
libfuzzer=$(echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer -x c++ - -o "$build/has-libfuzzer" 2>/dev/null && echo yes || echo no)

say "parser (seed $seed)" tried crashed hung wrong
for name in parse records numbers; do
  mkdir -p "$build/corpus-$name"
  if [ "$libfuzzer" = yes ]; then
    how="by coverage" tried=$(guided "$name" | grouped)
  else
    how=sanitized tried=$(by_chance "$name" sanitized "${watched[@]}" -fsanitize=address,undefined | grouped)
  fi
  say "$name, $how" "$tried" 0 0 0 # else it had ended here
  tried=$(by_chance "$name" guarded -O3 | grouped)
  say "$name, guarded" "$tried" 0 0 0
done
