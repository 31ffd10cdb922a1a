#!/usr/bin/env bash
# Makes sure that what a make target needs is there. Go must be; each argument
# names something more:
#
#   cc            a C compiler with headers (the race detector needs one)
#   bubblewrap    runs a program confined
#   sshd          an ssh server; tests start their own, on the loopback interface
#   postgresql    the programs of PostgreSQL; tests start a server of their own
#   notmuch, mu   what the store is measured beside
#
# With a ? after it the target can do without: a note, and no failure. Root gets
# what is missing from apt-get; anybody else is shown the one line to run.
set -euo pipefail

GO=${GO:-go}

if ! "$GO" version >/dev/null; then
  echo "setup: Go with the toolchain ${GOTOOLCHAIN:-of go.mod} is needed: install Go 1.21 or newer, which fetches it by itself" >&2
  exit 1
fi

# have NAME: is it there? Quick, as every target asks.
have() {
  case $1 in
    # A compiler without the C library's headers is on many small machines.
    cc) echo '#include <stdlib.h>' | $("$GO" env CC) -E - >/dev/null 2>&1 ;;
    bubblewrap) command -v bwrap >/dev/null ;;
    sshd) [[ -x /usr/sbin/sshd ]] ;;
    postgresql) command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ;;
    notmuch | mu) command -v "$1" >/dev/null ;;
    *) echo "setup: unknown need $1" >&2; exit 2 ;;
  esac
}

packages() {
  case $1 in
    cc) echo gcc libc6-dev ;;
    sshd) echo openssh-server ;;
    postgresql) echo postgresql-15 ;;
    mu) echo maildir-utils ;;
    *) echo "$1" ;;
  esac
}

missing=() optional=() wanted=()
for need in "$@"; do
  name=${need%\?}
  have "$name" && continue
  if [[ $need == *\? ]]; then optional+=("$name"); else missing+=("$name"); fi
  read -ra more <<<"$(packages "$name")"
  wanted+=("${more[@]}")
done
[[ ${#wanted[@]} -eq 0 ]] && exit 0

if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "setup: installing ${wanted[*]}"
  # Debian makes a cluster of PostgreSQL with the package, and starts it where it can: here nobody wants one.
  if [[ " ${wanted[*]} " == *" postgresql-15 "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  fi
  apt() {
    # Off line this must end soon: it may be for something optional.
    # RUNLEVEL=1: what is installed is not started as a service.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -q -o DPkg::Lock::Timeout=60 \
      -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" </dev/null
  }
  # The lists of a fresh machine are empty and those of an old one are stale:
  # either way the first try fails and the second, with new lists, does not. A
  # source that cannot be reached must not keep the others from serving.
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  apt install -y --no-install-recommends "${wanted[@]}" >"$log" 2>&1 ||
    { apt update || true; apt install -y --no-install-recommends "${wanted[@]}"; } >"$log" 2>&1 ||
    tail -n 5 "$log" >&2
fi

line() { echo "sudo apt-get update && sudo apt-get install -y $*"; }

for name in "${optional[@]}"; do
  have "$name" || echo "setup: note: $name is missing, and what needs it is left out: $(line "$(packages "$name")")"
done
for name in "${missing[@]}"; do
  have "$name" || { echo "setup: $name is missing: $(line "${wanted[@]}")" >&2; exit 1; }
done
