#!/bin/sh
# The browser and the JavaScript engine of the playground's tests: Debian's chromium and nodejs, installed where that is allowed.
set -u
missing=""
command -v "${CHROMIUM:-chromium}" > /dev/null || missing="chromium"
command -v node > /dev/null || missing="$missing nodejs"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Installing $missing for the tests of the playground"
  # shellcheck disable=SC2086
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing > /dev/null && exit 0
fi
echo "Not installed, and not allowed to: $missing. The playground's tests that need it are skipped (with CI=true they fail)."
exit 0
