#!/usr/bin/env bash
# Shows what loom does, on this machine and without any account. The model of the
# second part is a loopback server that replays a recorded answer
# (model/modeltest): it thinks nothing, and it is enough to see who decides.
set -euo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
loom=$PWD/bin/loom
work=$(mktemp -d)
# The runs and definitions of the demonstration are kept apart from yours.
export XDG_STATE_HOME=$work/state XDG_DATA_HOME=$work/data
server=
# The recorded model serves until its standard input ends.
finish() {
  exec 3>&- || true
  [[ -z $server ]] || wait "$server" || true
  rm -rf "$work"
}
trap finish EXIT

show() {
  local word line="loom" status=0
  for word; do
    if [[ $word == *" "* ]]; then line+=" \"$word\""; else line+=" ${word/#$work\//}"; fi
  done
  printf '\n$ %s\n' "$line"
  "$loom" "$@" || status=$?
  printf '(exit status %d)\n' "$status"
}

echo "== 1. A whole run without a model: the intent is matched by words, the step is a forced move"
show run --offline "need to know the current time"
echo
echo "It has kept a record of itself, which can be shown again, checked, and played again:"
show runs
show runs audit last
show runs replay last

echo
echo "== 2. What does not fit is refused, before anything happens"
show run --offline "cook a pasta dinner for four"

echo
echo "== 3. The same with a model, here a recorded one that also claims a wrong time"
"$GO" build -o "$work/replay" ./model/modeltest/replay
mkfifo "$work/stdin" "$work/url"
"$work/replay" --catalog "$work/models.toml" model/modeltest/recordings/clock.txtar <"$work/stdin" >"$work/url" &
server=$!
exec 3>"$work/stdin"
read -r _ <"$work/url" # the address; the server is ready, or it has failed and this ends too
show run --catalog "$work/models.toml" --classifier-model demo-classifier --model demo-agent "need to know the current time"
echo
echo "What the model answered, word for word:"
grep -o '"content":"[^"]*"' model/modeltest/recordings/clock.txtar
echo "It was asked once, to pick a protocol. The time came from the clock, through a verifier."

echo
echo "== 4. A program of your own, which may write one folder and use no network"
cd "$work"
show protocols init team-notes
cd team-notes
show protocols add team-notes@1 --file team-notes.yaml
show run --offline --protocol team-notes@1 --action-bindings bindings.json "a first note"
echo
echo "Where bubblewrap is missing this was refused, and not run unconfined instead. The same file without confine:"
grep -v '"confine"' bindings.json | sed 's/"properties": {}},/"properties": {}}/' >unconfined.json
show run --offline --protocol team-notes@1 --action-bindings unconfined.json "another note"

echo
echo "== 5. The rules behind it"
show protocols list --action-bindings bindings.json
show protocols show system-query@1
