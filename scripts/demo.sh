#!/usr/bin/env bash
# Sourced by the scripts that test programs against a running demo.

# start_demo builds vigil, starts the demo and waits until it is ready. It exports VIGIL_READY,
# the path of the ready file. The demo is stopped when the script ends.
start_demo() {
	go build -o bin/vigil ./cmd/vigil
	VIGIL_READY=$(mktemp -u)
	bin/vigil demo --ready-file "$VIGIL_READY" >/dev/null 2>&1 &
	trap "kill $! 2>/dev/null; rm -f $VIGIL_READY" EXIT
	export VIGIL_READY # not before the start: vigil refuses VIGIL_ variables that are not settings
	for _ in $(seq 600); do
		[ -s "$VIGIL_READY" ] && return
		sleep 0.1
	done
	echo "the demo is not ready after a minute" >&2
	exit 1
}
