#!/usr/bin/env bash
# Runs the test suite of the Go driver against the test server. The suite comes with the driver's module, from Go's
# module cache: it is copied to a temporary directory, and nothing of it stays. Prints the names of the specs that
# failed and, as the last line, how many passed, failed and were skipped.
#
#   ./driver-suite.sh                      everything
#   FOCUS='UDF|Query' ./driver-suite.sh    specs whose names match a regular expression
#   SECURITY=1 ./driver-suite.sh           with users, as on an Enterprise server
#
# TIMEOUT bounds the whole run (20m), RACE=1 builds the server with the race detector, LOG keeps the suite's output.
set -euo pipefail
cd "$(dirname "$0")"

dir=$(mktemp -d)
server=
cleanup() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	chmod -R u+w "$dir"
	rm -rf "$dir"
}
trap cleanup EXIT

module=github.com/aerospike/aerospike-client-go/v7
go mod download "$module"
cp -r "$(go list -m -f '{{.Dir}}' "$module")" "$dir/driver"
chmod -R u+w "$dir/driver"

args=() # of the suite
flags=(-addr 127.0.0.1:0 -namespace test)
if [ -n "${SECURITY:-}" ]; then
	flags+=(-user admin -password admin)
	args+=(-U admin -P admin)
fi
if [ -n "${FOCUS:-}" ]; then
	args+=(-ginkgo.focus "$FOCUS")
fi

go build ${RACE:+-race} -o "$dir/server" ./cmd/aerospiketest
"$dir/server" "${flags[@]}" >"$dir/ready" &
server=$!
for _ in $(seq 100); do
	grep -q '^ready$' "$dir/ready" && break
	kill -0 "$server" || exit 2
	sleep 0.1
done
addr=$(sed -n 's/^node A1 at //p' "$dir/ready")

# Out of any workspace: the driver's own go.mod says what the suite needs.
log=${LOG:-$dir/log}
(cd "$dir/driver" && GOWORK=off go test -mod=mod -c -o "$dir/suite" .)
status=0
(cd "$dir/driver" && "$dir/suite" -test.run '^TestAerospike$' -h "${addr%:*}" -p "${addr##*:}" \
	-test.timeout "${TIMEOUT:-20m}" -ginkgo.timeout "${TIMEOUT:-20m}" -ginkgo.no-color "${args[@]}") >"$log" 2>&1 || status=$?

sed -n '/^Summarizing/,/^Ran /p' "$log" | grep -v '^Ran ' || true
counts=$(sed -n 's/^.*-- \([0-9]*\) Passed | \([0-9]*\) Failed | .* | \([0-9]*\) Skipped$/\1 passed, \2 failed, \3 skipped/p' "$log")
if [ -z "$counts" ]; then
	tail -n 40 "$log"
	echo "the suite did not run to its end" >&2
	exit 2
fi
echo "$counts"
exit "$status"
