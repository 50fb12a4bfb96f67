#!/bin/sh
# What a newcomer does, timed: an empty environment, an empty home, no compiler; install the wheel of dist/, type the quickstart word
# for word, run the demo. With --smoke only the wheel is tried.
set -eu
cd "$(dirname "$0")/.."
python=$(command -v "${PYTHON:-python3}")
python=$("$python" -c "import sys; print(sys.executable)")
root=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home" "$place/bin" "$place/work"
# The commands of the quickstart and of pip, and no compiler.
for tool in sh bash env cat head ls mkdir rm uname; do ln -s "$(command -v $tool)" "$place/bin/$tool"; done
now() { date +%s.%N; }
say() { echo "$1: $(echo "$(now) $2" | awk '{printf "%.1f", $1 - $2}') s"; }
clean() { env -i HOME="$place/home" PATH="$place/env/bin:$place/bin" LANG=C.UTF-8 PIP_INDEX_URL="${PIP_INDEX_URL:-}" "$@"; }

begin=$(now)
"$python" -m venv "$place/env"
say "an empty environment of $("$python" --version)" "$begin"
begin=$(now)
"$place/env/bin/pip" install --quiet --disable-pip-version-check --no-compile --find-links "$root/dist" --only-binary :all: rosenblatt
say "pip install rosenblatt" "$begin"
cd "$place/work"
begin=$(now)
clean python "$root/packaging/smoke.py"
say "smoke tests" "$begin"
if [ "${1:-}" = --smoke ]; then exit; fi
begin=$(now)
clean python "$root/packaging/quickstart.py" "$root/docs/quickstart.md"
say "the quickstart, word for word" "$begin"
begin=$(now)
clean rosenblatt demo
say "rosenblatt demo" "$begin"
