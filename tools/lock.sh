#!/bin/sh
# Write requirements.lock and benchmarks/requirements.lock: every version and the hash of every file, for all platforms.
# It needs uv.
# What a user installs comes first; what only development needs follows the marker.
set -eu
cd "$(dirname "$0")/.."
compile() {
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    --no-emit-index-url --no-emit-find-links "$@"
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compile --group build pyproject.toml -o "$folder/run"
compile --group build --group test --group lint --group docs --group fuzz --all-extras -c "$folder/run" pyproject.toml -o "$folder/all"
python3 - "$folder/run" "$folder/all" > requirements.lock <<'PYTHON'
import re
import sys

run, every = (re.split(r"\n(?=\S)", open(path).read().strip()) for path in sys.argv[1:])
print("# Written by tools/lock.sh.", *run, "# Development", *(each for each in every if each not in run), sep="\n")
PYTHON
compile --group build --extra theory --extra plot --extra serve --extra cluster -c requirements.lock pyproject.toml \
  benchmarks/requirements.txt -o benchmarks/requirements.lock
