#!/usr/bin/env bash
# Runs the conformance program twice against the test server: as it is, and, in a temporary copy, with its client behind
# Compat. Both must print the same lines. Arguments name the groups; none means all.
#
# CASES is how many random cases a group has (150), OUT is a directory that keeps the two outputs.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)

dir=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
		server=
	fi
}
cleanup() {
	stop
	rm -rf "$dir"
}
trap cleanup EXIT
out=${OUT:-$dir}
mkdir -p "$out"

mkdir "$dir/copy"
cp aerospiketest/conformance/*.go aerospiketest/conformance/go.mod aerospiketest/conformance/go.sum "$dir/copy"
(cd "$dir/copy" && GOWORK=off go build -o "$dir/raw" .)

# An error that isn't the driver's is found by errors.As, not by its type: that is the one thing that callers have to know.
sed -i 's/\*as\.Client\b/as.ClientIfc/g; s/^\treturn c, nil$/\treturn throughCompat(c)/
	s/if t, ok := err\.(\*as\.AerospikeError); ok {/if t := (*as.AerospikeError)(nil); errors.As(err, \&t) {/' "$dir"/copy/*.go
grep -q throughCompat "$dir/copy/env.go"
grep -q 'errors.As(err, &t)' "$dir/copy/canon.go"
cat >"$dir/copy/through_compat.go" <<'EOF'
package main

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/spillway-go/spillway/adapters/aerospike"
)

func throughCompat(driver *as.Client) (as.ClientIfc, error) {
	client, err := aerospike.Wrap(driver, aerospike.DefaultConfig())
	if err != nil {
		return nil, err
	}
	return client.Compat(context.Background())
}
EOF
(cd "$dir/copy" && GOWORK=off go mod edit -go=1.24.0 \
	-require=github.com/spillway-go/spillway/adapters/aerospike@v0.0.0 -replace=github.com/spillway-go/spillway/adapters/aerospike="$here" \
	-require=github.com/spillway-go/spillway@v0.0.0 -replace=github.com/spillway-go/spillway="$root" &&
	GOWORK=off go build -mod=mod -o "$dir/compat" .)

go build -o "$dir/server" ./aerospiketest/cmd/aerospiketest
groups=all
if [ $# -gt 0 ]; then
	groups=$(IFS=,; echo "$*")
fi
for name in raw compat; do
	"$dir/server" -addr 127.0.0.1:0 >"$dir/ready" &
	server=$!
	for _ in $(seq 100); do
		grep -q '^ready$' "$dir/ready" && break
		kill -0 "$server" || exit 2
		sleep 0.1
	done
	"$dir/$name" -hosts "$(sed -n 's/^node A1 at //p' "$dir/ready")" -group "$groups" -cases "${CASES:-150}" >"$out/$name.jsonl"
	stop
done
if ! diff --label 'the driver alone' --label 'through Compat' -U 0 "$out/raw.jsonl" "$out/compat.jsonl" | cut -c 1-300; then
	echo "the lines differ"
	exit 1
fi
echo "$(wc -l <"$out/compat.jsonl") lines, all the same"
