#!/usr/bin/env bash
# The original's walk-through with curl: for each pattern start the consumer, send N messages one by one, stop, and
# print a table. It measures curl more than Redis; `weir run messaging --as-published` says how much more.
#
#   weir serve producer &  weir serve consumer &
#   examples/compare.sh [messages]            # default 100
#
# PRODUCER and CONSUMER name other addresses, WEIR_TOKEN the token of services that ask for one, PATTERNS the patterns.
set -euo pipefail

messages=${1:-100}
producer=${PRODUCER:-http://127.0.0.1:8080}
consumer=${CONSUMER:-http://127.0.0.1:8081}
read -ra patterns <<<"${PATTERNS:-queue stream-xread stream-group pubsub}"
[[ $messages =~ ^[1-9][0-9]*$ ]] || { echo "usage: compare.sh [messages]" >&2; exit 64; }

request() {
  local token=()
  [[ -z ${WEIR_TOKEN:-} ]] || token=(-H "Authorization: Bearer $WEIR_TOKEN")
  curl --silent --show-error --fail-with-body "${token[@]}" "$@"
}

# The value of one member of a flat JSON object: `member totalMessages "$json"`.
member() {
  sed -E "s/.*\"$1\":\"?([^,\"}]*).*/\1/" <<<"$2"
}

printf '%-14s %10s %10s %22s\n' pattern handled ms throughput
for pattern in "${patterns[@]}"; do
  request -X POST "$consumer/$pattern/start" >/dev/null
  for ((sent = 1; sent <= messages; sent++)); do
    request -X POST -H 'Content-Type: text/plain' --data "message $sent" "$producer/$pattern/send" >/dev/null
    if ((sent % 10 == 0)) && [[ -t 2 ]]; then printf '\r%s %d/%d' "$pattern" "$sent" "$messages" >&2; fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  result=$(request -X POST "$consumer/$pattern/stop")
  printf '%-14s %10s %10s %22s\n' "$pattern" "$(member totalMessages "$result")" \
    "$(member durationMs "$result")" "$(member throughput "$result")"
done
