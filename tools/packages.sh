#!/bin/sh
# Install the Debian packages that some tests use: a browser, npm, nginx, OpenSSL, and the checkers of systemd and Prometheus.
# Without root it names what is missing; those tests then skip, and fail if CI=true.
set -u
missing=""
need() { # command, package
  command -v "$1" > /dev/null || missing="$missing $2"
}
need "${CHROMIUM:-chromium}" chromium
need g++ g++
need npm npm
need nginx nginx-light
need openssl openssl
need systemd-analyze systemd
need promtool prometheus
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  # shellcheck disable=SC2086
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null && exit 0
fi
echo "Not installed:$missing"
