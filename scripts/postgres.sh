#!/bin/sh
# Starts and stops a PostgreSQL server for the tests, on a free loopback port and with its
# data in a separate folder.
#
#   scripts/postgres.sh start DIR [OPTIONS]
#                                   start it, unless it runs, and print its URL; OPTIONS are passed to the server, such as "-c fsync=off"
#   scripts/postgres.sh pause DIR   stop it and keep its data; after a restart it has the same URL if its port is free
#   scripts/postgres.sh crash DIR   stop it immediately, as in a crash, and keep its data
#   scripts/postgres.sh stop DIR    stop it and remove its data
#
# The script uses the server programs of this machine. As root it installs missing ones with
# apt-get. Exit status 3 means that they are missing and it cannot install them.
set -eu

oldest=15

say() { echo "postgres.sh: $*" >&2; }

# version_of prints the major version of the server programs in a folder.
version_of() { "$1/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/'; }

# find_server prints the folder with the newest suitable server programs.
find_server() {
	best=0
	found=
	for bin in /usr/lib/postgresql/*/bin "$(command -v postgres >/dev/null && dirname "$(command -v postgres)")"; do
		if [ ! -x "$bin/postgres" ] || [ ! -x "$bin/initdb" ] || [ ! -x "$bin/pg_ctl" ]; then
			continue
		fi
		version=$(version_of "$bin")
		if [ "$version" -ge "$oldest" ] && [ "$version" -gt "$best" ]; then
			best=$version
			found=$bin
		fi
	done
	[ -n "$found" ] && echo "$found"
}

# install_server installs Debian's server without its default cluster, which would run
# permanently.
install_server() {
	say "installing PostgreSQL"
	export DEBIAN_FRONTEND=noninteractive
	quietly apt-get install -y --no-install-recommends postgresql-common ||
		{ quietly apt-get update && quietly apt-get install -y --no-install-recommends postgresql-common; } || return 1
	dropin=/etc/postgresql-common/createcluster.d/vigil-tests.conf
	mkdir -p "${dropin%/*}"
	echo 'create_main_cluster = false' >"$dropin"
	status=0
	quietly apt-get install -y --no-install-recommends postgresql || status=1
	rm -f "$dropin"
	return $status
}

# quietly runs a command and shows its output only if it fails.
quietly() {
	output=$("$@" 2>&1 </dev/null) || {
		say "$* failed:"
		echo "$output" >&2
		return 1
	}
}

# need_server sets bin to the folder of the server programs, or ends the script with a message
# about what is missing.
need_server() {
	bin=$(find_server) && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && install_server; then
		bin=$(find_server) && return
	fi
	say "PostgreSQL $oldest or newer is needed, and its server is not installed."
	say "Install it as root: apt-get install postgresql"
	say "or set VIGIL_TEST_POSTGRES to the URL of a server the tests may use."
	exit 3
}

# as_server runs a command as the user of the server: PostgreSQL refuses to run as root.
as_server() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$(id -un postgres 2>/dev/null || echo nobody)" -- "$@"
	else
		"$@"
	fi
}

# control runs pg_ctl on the server, in a folder that the server's user can access.
control() { (cd / && as_server "$bin/pg_ctl" -D "$(readlink -f "$dir/data")" -s "$@"); }

running() { [ -s "$dir/url" ] && [ -f "$dir/data/postmaster.pid" ] && control status >/dev/null 2>&1; }

# create creates a data folder. If the server's user cannot access DIR, the data is in a
# temporary folder and DIR has a link to it.
create() {
	remove
	data=$dir/data
	mkdir "$data"
	if [ "$(id -u)" = 0 ]; then
		chown "$(as_server id -u):$(as_server id -g)" "$data"
		if ! as_server test -w "$data"; then
			rmdir "$data"
			data=$(as_server mktemp -d /tmp/vigil-postgres.XXXXXX)
			ln -s "$data" "$dir/data"
		fi
	fi
	# Use a linguistic collation, not byte order, so that tests detect keys whose order
	# depends on the database. The password keeps out other users of this machine.
	password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	# The server's user may not be allowed to enter $dir, so initdb reads a copy of the password.
	copy=$(as_server mktemp /tmp/vigil-postgres.XXXXXX)
	echo "$password" | as_server tee "$copy" >/dev/null
	status=0
	(cd / && quietly as_server "$bin/initdb" -D "$data" --no-sync -U vigil -A scram-sha-256 --pwfile="$copy" \
		-E UTF8 --locale=C --locale-provider=icu --icu-locale=en-US) || status=1
	rm -f "$copy"
	[ $status = 0 ] || exit 1
	as_server tee -a "$data/postgresql.conf" >/dev/null <<-'END'
		listen_addresses = '127.0.0.1'
		unix_socket_directories = ''
		max_connections = 300
		logging_collector = off
	END
	# The password is written last: is_usable recognises a complete data folder by it.
	(
		umask 077
		echo "$password" >"$dir/password"
	)
}

# is_usable succeeds if the data folder is complete and the server can read its version.
is_usable() { [ -s "$dir/password" ] && [ "$(cat "$dir/data/PG_VERSION" 2>/dev/null)" = "$(version_of "$bin")" ]; }

# remove deletes what create created.
remove() {
	if [ -L "$dir/data" ]; then
		rm -rf "$(readlink "$dir/data")"
	fi
	rm -rf "$dir/data" "$dir/url" "$dir/password"
}

start() {
	need_server
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	if ! running; then
		# A start that was killed before it wrote the URL leaves a server on an unknown port.
		if [ -f "$dir/data/postmaster.pid" ] && control status >/dev/null 2>&1; then
			halt immediate
		fi
		is_usable || create # create deletes the old data, which is only that of tests
		log=$(readlink -f "$dir/data")/server.log
		# Only starting the server shows whether a port is free.
		for try in 1 2 3 4 5 6 7 8 9 10; do
			port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 30000))
			if [ "$try" = 1 ] && [ -s "$dir/url" ]; then
				port=$(sed 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/' "$dir/url")
			fi
			rm -f "$log"
			if control -w -t 60 -l "$log" -o "-p $port $options" start >/dev/null 2>&1; then
				(
					umask 077
					echo "postgres://vigil:$(cat "$dir/password")@127.0.0.1:$port/postgres?sslmode=disable" >"$dir/url"
				)
				break
			fi
			if [ "$try" = 10 ] || ! grep -q 'could not bind' "$log"; then
				say "the server does not start:"
				tail -n 20 "$log" >&2
				exit 1
			fi
		done
	fi
	cat "$dir/url"
}

# halt MODE stops the server with a shutdown mode of pg_ctl.
halt() {
	control -m "$1" -w stop && return
	if control status >/dev/null 2>&1; then
		say "the server does not stop"
		exit 1
	fi
	say "the server was not running"
}

# pause MODE stops the server with a shutdown mode of pg_ctl and keeps its data.
pause() {
	[ -f "$dir/data/postmaster.pid" ] || return 0
	dir=$(cd "$dir" && pwd)
	need_server
	halt "$1"
}

stop() {
	[ -d "$dir" ] || return 0
	dir=$(cd "$dir" && pwd)
	if [ -f "$dir/data/postmaster.pid" ]; then
		need_server
		halt immediate
	fi
	remove
	rmdir "$dir" 2>/dev/null || true
}

if [ $# -lt 2 ] || [ $# -gt 3 ] || [ -z "$2" ]; then
	say "usage: postgres.sh start|pause|crash|stop DIR [OPTIONS]"
	exit 2
fi
dir=$2
options=${3:-}
case $1 in
start) start ;;
pause) pause fast ;;
crash) pause immediate ;;
stop) stop ;;
*)
	say "usage: postgres.sh start|pause|crash|stop DIR [OPTIONS]"
	exit 2
	;;
esac
