#!/usr/bin/env bash
# The parsers of the engine, fuzzed for so many seconds each: parsers.sh SECONDS
# With clang by coverage, from the corpus beside this file; without it by chance. Both print how many texts were tried.
set -euo pipefail
seconds=$1
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
flags=(-std=c++20 -O1 -g -fno-sanitize-recover=all -I"$here/../../engine")
mkdir -p "$build"
guided() { # name, seconds
  clang++ "${flags[@]}" -DCOVERAGE_GUIDED -fsanitize=fuzzer,address,undefined -o "$build/guided-$1" "$here/$1.cpp"
  mkdir -p "$build/corpus-$1"
  "$build/guided-$1" -max_total_time="$2" -timeout=1 -max_len=512 -print_final_stats=1 \
    -artifact_prefix="$build/found-$1-" "$build/corpus-$1" "$here/corpus/$1" >"$build/guided-$1.log" 2>&1 ||
    { tail -40 "$build/guided-$1.log"; exit 1; }
  tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/guided-$1.log")
  covered=$(grep -o 'cov: [0-9]*' "$build/guided-$1.log" | tail -1)
  echo "$1: $tried texts by coverage ($covered), 0 crashed, 0 over 1 s"
}
if echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer -x c++ - -o "$build/has-libfuzzer" 2>/dev/null; then
  guided parse "$seconds"
  guided records "$seconds"
else
  echo "clang's libFuzzer is not there: texts by chance"
  c++ "${flags[@]}" -fsanitize=address,undefined -o "$build/fuzz" "$here/parse.cpp"
  for target in svmlight "svmlight labels" vw "vw labels" fasttext tabbed; do "$build/fuzz" "$target" "$seconds"; done
  c++ "${flags[@]}" -fsanitize=address,undefined -o "$build/fuzz-records" "$here/records.cpp"
  "$build/fuzz-records" "$seconds"
fi
