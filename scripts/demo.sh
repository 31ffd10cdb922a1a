#!/usr/bin/env bash
# Shows what loom does, on this machine and without any account. Its models are a loopback
# server that replays recorded answers (model/modeltest): it thinks nothing, and it is enough
# to see who decides.
set -euo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
root=$PWD
loom=$root/bin/loom
work=$(mktemp -d)
# The runs and definitions of the demonstration are kept apart from yours.
export XDG_STATE_HOME=$work/state XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config
server=
# The recorded model serves until its standard input ends.
finish() {
  exec 3>&- || true
  [[ -z $server ]] || wait "$server" || true
  rm -rf "$work"
}
trap finish EXIT

# recorded NAME: a recorded model serves in the place of the one before; its catalog is models.toml.
recorded() {
  exec 3>&- || true
  [[ -z $server ]] || wait "$server" || true
  rm -f "$work/stdin" "$work/url"
  mkfifo "$work/stdin" "$work/url"
  "$work/replay" --catalog "$work/models.toml" "$root/model/modeltest/recordings/$1.txtar" <"$work/stdin" >"$work/url" &
  server=$!
  exec 3>"$work/stdin"
  read -r _ <"$work/url" # the address; the server is ready, or it has failed and this ends too
}

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
recorded clock
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

echo
echo "== 6. A question about your own data, below a ceiling"
echo "Ada has mail of her work, of her family, and about her health. Each is in a facet of its own:"
cd "$root/examples"
show init --owner ada --zone Europe/Berlin --facet work --facet family --facet health
show source add mail workplace/mail.mbox --name work-mail --facet work
show source add calendar workplace/calendar.ics --name work-calendar --facet work
show source add mail household/mail.mbox --name family-mail --facet family
show source add mail health/mail.mbox --name health-mail --facet health
show sync
echo
echo "One message of the workplace speaks to the program that reads it:"
sed -n '13,17p' workplace/mail.mbox
echo
echo "The model of this run does all that it says. The run may be shown what is in the facet work, and nothing else:"
show retrieval write --out "$work/retrieval.json"
recorded tide-review
cd "$work"
show run --catalog models.toml --classifier-model demo-classifier --model demo-agent \
  --loom-retrieval-config "$work/retrieval.json" --ceiling work "when is the review of the tide tables, and what must I bring"
echo
echo "It searched for the blood test, and was shown that there is something it may not see. It called a tool that sends mail,"
echo "and there is none. What it was shown of the matter was the hostile message itself. All of that can be computed again:"
show runs audit last
echo
echo "Where to look next: README.md, and docs/labels.md for this last part; loom --help for the commands."
