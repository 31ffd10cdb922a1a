#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, each for the time
# given (20s). go test fuzzes one target of one package at a time, so they are
# listed first.
set -euo pipefail

GO=${GO:-go}
time=${1:-20s}

# go test -list prints the names of a package's targets and then "ok PACKAGE".
listed=$("$GO" test -list '^Fuzz' ./...)
targets=$(awk '/^Fuzz/ { names[++n] = $1 } /^ok/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' <<<"$listed")
[[ -n $targets ]] || { echo "no fuzz targets"; exit 0; }

while read -r package name; do
  echo "== $name of $package"
  # No input from here: the list stands on this loop's standard input. Without the last
  # flag most of the time given goes into making interesting inputs small.
  "$GO" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 1x "$package" </dev/null
done <<<"$targets"
