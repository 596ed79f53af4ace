#!/bin/sh
# Starts and stops a real session host for the tests: xrdp on a loopback port.
#
#   scripts/xrdp.sh start DIR   start it, unless it runs, and print host:port
#   scripts/xrdp.sh pause DIR   stop it, and keep its data
#   scripts/xrdp.sh stop DIR    stop it and remove its data
#
# As root the script installs Debian's package if it is missing. Exit status 3 means that
# xrdp is not available on this machine.
set -eu

say() { echo "xrdp.sh: $*" >&2; }

programs() {
	command -v xrdp >/dev/null && command -v openssl >/dev/null && return
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say "xrdp and openssl are required but not installed"
		exit 3
	fi
	say "installing xrdp"
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends xrdp openssl >/dev/null 2>&1 ||
		{ apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends xrdp openssl >/dev/null 2>&1; } || exit 3
}

running() { [ -s "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null; }

# configure writes the configuration once, so that the port does not change.
configure() {
	[ -f "$dir/port" ] || echo $((20000 + $(od -An -N2 -tu2 /dev/urandom) % 30000)) >"$dir/port"
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=session host" -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
	sed -e "s|^port=3389|port=tcp://127.0.0.1:$(cat "$dir/port")|" -e "s|^certificate=.*|certificate=$dir/cert.pem|" \
		-e "s|^key_file=.*|key_file=$dir/key.pem|" -e 's|^security_layer=.*|security_layer=tls|' \
		-e "s|^LogFile=.*|LogFile=$dir/xrdp.log|" /etc/xrdp/xrdp.ini >"$dir/xrdp.ini"
}

start() {
	programs
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	[ -f "$dir/xrdp.ini" ] || configure
	if ! running; then
		xrdp --nodaemon --config "$dir/xrdp.ini" >"$dir/out" 2>&1 </dev/null &
		echo $! >"$dir/pid"
	fi
	tries=0
	until openssl s_client -connect "127.0.0.1:$(cat "$dir/port")" </dev/null 2>&1 | grep -q CONNECTED; do
		tries=$((tries + 1))
		if [ $tries -gt 100 ] || ! running; then
			say "the session host does not start:"
			tail -n 20 "$dir/out" >&2
			exit 1
		fi
		sleep 0.1
	done
	echo "127.0.0.1:$(cat "$dir/port")"
}

# pause stops the session host and the child processes of its connections.
pause() {
	if running; then
		children=$(ps -o pid= --ppid "$(cat "$dir/pid")" || true)
		# shellcheck disable=SC2086 # several numbers
		kill "$(cat "$dir/pid")" $children 2>/dev/null || true
		while running; do sleep 0.1; done
	fi
	rm -f "$dir/pid"
}

if [ $# -ne 2 ] || [ -z "$2" ]; then
	say "usage: xrdp.sh start|pause|stop DIR"
	exit 2
fi
dir=$2
case $1 in
start) start ;;
pause) pause ;;
stop)
	pause
	rm -rf "$dir"
	;;
*)
	say "usage: xrdp.sh start|pause|stop DIR"
	exit 2
	;;
esac
