#!/bin/sh
# What the tests use beside PyPI's packages: a browser, Node, nginx, OpenSSL, systemd's checker and a false clock, all Debian's. They
# are fetched where that is allowed, after saying so; with NO_BROWSER=1 they are not.
set -u
missing=""
need() { # command, package
  command -v "$1" > /dev/null || missing="$missing $2"
}
need "${CHROMIUM:-chromium}" chromium
need node nodejs
need nginx nginx-light
need openssl openssl
need systemd-analyze systemd
ls /usr/lib/*/faketime/libfaketimeMT.so.1 > /dev/null 2>&1 || missing="$missing libfaketime"
[ -z "$missing" ] && exit 0
if [ -z "${NO_BROWSER:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Fetching Debian's$missing (up to 300 MB) for the tests; NO_BROWSER=1 leaves them out"
  # shellcheck disable=SC2086
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null && exit 0
fi
echo "Not installed:$missing. The tests that need them are skipped (with CI=true they fail)."
exit 0
