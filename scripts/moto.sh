#!/usr/bin/env bash
# Sourced by the scripts that use moto, an independent simulation of AWS. It installs moto and the
# AWS command line from PyPI into a separate cache. The caller has sourced need.sh.

# install_moto: sets moto_home to a virtual environment with moto and the AWS command line.
install_moto() {
	need python3 python3
	need curl curl
	local versions='moto[server]==5.2.5 awscli==1.46.2'
	moto_home=${XDG_CACHE_HOME:-$HOME/.cache}/vigil/peers-$(printf %s "$versions" | cksum | cut -d' ' -f1)
	[ -e "$moto_home/complete" ] && return
	echo "installing $versions into $moto_home" >&2
	rm -rf "$moto_home"
	make_venv "$moto_home"
	# shellcheck disable=SC2086 # one argument for each word
	"$moto_home/bin/pip" install --quiet --disable-pip-version-check $versions
	touch "$moto_home/complete"
}

# start_moto: starts a server and sets moto_address to its host and port.
start_moto() {
	local port attempt
	port=$("$moto_home/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	moto_log=$(mktemp)
	"$moto_home/bin/moto_server" -H 127.0.0.1 -p "$port" >"$moto_log" 2>&1 &
	moto_process=$!
	moto_address=127.0.0.1:$port
	for ((attempt = 0; ; attempt++)); do
		curl --silent --output /dev/null --noproxy '*' "http://$moto_address/moto-api/" && return
		if [ "$attempt" -ge 120 ] || ! kill -0 "$moto_process" 2>/dev/null; then
			cat "$moto_log" >&2
			exit 1
		fi
		sleep 0.5
	done
}

# stop_moto: ends the server.
stop_moto() {
	kill "$moto_process" 2>/dev/null || true
	rm -f "$moto_log"
}
