#!/usr/bin/env bash
# Runs the test suite of the Go driver twice against the test server: with the driver alone, and with the suite's client
# behind Compat. What fails must be the same. The suite comes with the driver's module, from Go's module cache: it is
# copied to a temporary directory, its client is wrapped there, and nothing of it stays. Prints the specs that only one
# of the two fails, and as the last lines how many passed, failed and were skipped in each.
#
#   ./compat-suite.sh                      everything
#   FOCUS='UDF|Query' ./compat-suite.sh    specs whose names match a regular expression
#
# TIMEOUT bounds each run (20m), LOGS is a directory that keeps the two outputs.
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
	chmod -R u+w "$dir"
	rm -rf "$dir"
}
trap cleanup EXIT
logs=${LOGS:-$dir}
mkdir -p "$logs"

module=github.com/aerospike/aerospike-client-go/v7
go mod download "$module"
cp -r "$(go list -m -f '{{.Dir}}' "$module")" "$dir/raw"
chmod -R u+w "$dir/raw"
# Both in the language that the adapter needs: in the suite's own, older one the loops of its tables all run with the last
# row, and with the first the driver fails by itself (BatchGetComplex of one key).
(cd "$dir/raw" && GOWORK=off go mod edit -go=1.24.0)
cp -r "$dir/raw" "$dir/compat"

# The one place where the suite makes its client. The lanes let callers wait, for some specs start more of them at once
# than there are connections, and expect to be served all the same.
sed -i 's/^\t\tclient = nclient$/\t\tclient = throughCompat(nclient)/' "$dir/compat/aerospike_suite_test.go"
grep -q throughCompat "$dir/compat/aerospike_suite_test.go"
cat >"$dir/compat/through_compat_test.go" <<'EOF'
package aerospike_test

import (
	"context"
	"log"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/spillway-go/spillway/adapters/aerospike"
)

func throughCompat(driver *as.Client) as.ClientIfc {
	cfg := aerospike.DefaultConfig()
	cfg.Lanes = aerospike.DefaultLanes(32)
	for i := range cfg.Lanes {
		cfg.Lanes[i].MaxWaiting, cfg.Lanes[i].MaxWait = 100000, 30*time.Second
	}
	client, err := aerospike.Wrap(driver, cfg)
	if err != nil {
		log.Fatal(err)
	}
	wrapped, err := client.Compat(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	return wrapped
}
EOF
(cd "$dir/compat" && GOWORK=off go mod edit \
	-require=github.com/spillway-go/spillway/adapters/aerospike@v0.0.0 -replace=github.com/spillway-go/spillway/adapters/aerospike="$here" \
	-require=github.com/spillway-go/spillway@v0.0.0 -replace=github.com/spillway-go/spillway="$root")

go build -o "$dir/server" ./aerospiketest/cmd/aerospiketest

# run NAME runs one of the two on a server of its own.
run() {
	"$dir/server" -addr 127.0.0.1:0 -namespace test >"$dir/ready" &
	server=$!
	for _ in $(seq 100); do
		grep -q '^ready$' "$dir/ready" && break
		kill -0 "$server" || exit 2
		sleep 0.1
	done
	local addr args=()
	addr=$(sed -n 's/^node A1 at //p' "$dir/ready")
	if [ -n "${FOCUS:-}" ]; then
		args+=(-ginkgo.focus "$FOCUS")
	fi
	# Out of any workspace: the driver's own go.mod says what the suite needs. Its code is older than some checks.
	(cd "$dir/$1" && GOWORK=off go test -mod=mod -vet=off -c -o "$dir/suite" .)
	(cd "$dir/$1" && "$dir/suite" -test.run '^TestAerospike$' -h "${addr%:*}" -p "${addr##*:}" -ginkgo.seed 1 \
		-test.timeout "${TIMEOUT:-20m}" -ginkgo.timeout "${TIMEOUT:-20m}" -ginkgo.no-color "${args[@]}") >"$logs/$1.log" 2>&1 || true
	stop
	if ! grep -q '^Ran .* Specs' "$logs/$1.log"; then
		tail -n 40 "$logs/$1.log"
		echo "$1: the suite did not run to its end" >&2
		exit 2
	fi
	# The names of what failed, without the line of the file.
	sed -n '/^Summarizing/,/^Ran /p' "$logs/$1.log" | sed -n 's/^ *\[\(FAIL\|PANICKED!\|TIMEDOUT\|INTERRUPTED\)\] /[\1] /p' | sort >"$dir/$1.failed"
}
run raw
run compat

status=0
if ! diff --label 'the driver alone' --label 'through Compat' -U 0 "$dir/raw.failed" "$dir/compat.failed"; then
	status=1
fi
for name in raw compat; do
	sed -n 's/^.*-- \([0-9]*\) Passed | \([0-9]*\) Failed | .* | \([0-9]*\) Skipped$/'"$name"': \1 passed, \2 failed, \3 skipped/p' "$logs/$name.log"
done
exit $status
