#!/bin/sh
# The browser and the JavaScript engine of the playground's tests: Debian's chromium and nodejs. They are fetched where that is
# allowed, after saying so; with NO_BROWSER=1 they are not.
set -u
missing=""
command -v "${CHROMIUM:-chromium}" > /dev/null || missing=" chromium"
command -v node > /dev/null || missing="$missing nodejs"
[ -z "$missing" ] && exit 0
if [ -z "${NO_BROWSER:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Fetching Debian's$missing (up to 300 MB) for the tests of the playground; NO_BROWSER=1 leaves them out"
  # shellcheck disable=SC2086
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing > /dev/null && exit 0
fi
echo "Not installed:$missing. The playground's tests that need it are skipped (with CI=true they fail)."
exit 0
