#!/usr/bin/env bash
# Starts the test server on a free port and compares it with the recordings of a real one, group by group. It prints
# a count for each group, and fails if a group differs in more lines than are allowed, or in fewer: then the number
# here is to be lowered. Arguments name the groups; none means all.
set -euo pipefail
cd "$(dirname "$0")"

# How many lines of each group may differ. This is the one place where that is said.
allowed() {
	case $1 in
	single | list | map | bit | hll | exp | batch | scan | query | udf | background | info | geo | errors) echo 0 ;;
	*) echo "unknown group $1" >&2 && exit 2 ;;
	esac
}

dir=$(mktemp -d)
server=
cleanup() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$dir"
}
trap cleanup EXIT

(cd .. && go build -o "$dir/server" ./cmd/aerospiketest)
go build -o "$dir/conformance" .
"$dir/server" -addr 127.0.0.1:0 >"$dir/out" &
server=$!
for _ in $(seq 100); do
	grep -q '^ready$' "$dir/out" && break
	kill -0 "$server" || exit 2
	sleep 0.1
done
addr=$(sed -n 's/^node A1 at //p' "$dir/out")

if [ $# -eq 0 ]; then
	set -- single list map bit hll exp batch scan query udf background info geo errors
fi
failed=0
for group in "$@"; do
	want=$(allowed "$group")
	status=0
	out=$("$dir/conformance" -hosts "$addr" -max "${MAX:-3}" -check "golden/$group.seed1.jsonl") || status=$?
	got=$(sed -n "s/^$group .* \([0-9]*\) differ$/\1/p" <<<"$out")
	if [ "$status" -gt 1 ] || [ -z "$got" ]; then
		printf '%s\n' "$out"
		echo "$group: the run failed"
		failed=1
	elif [ "$got" -ne "$want" ]; then
		printf '%s\n' "$out"
		echo "$group: $got lines differ, $want are allowed"
		failed=1
	else
		tail -n 1 <<<"$out"
	fi
done
exit $failed
