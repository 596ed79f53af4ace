#!/usr/bin/env bash
# Sourced by the other scripts: checks that the programs they need are installed,
# installs missing ones when run as root, and otherwise prints what is missing.

# need COMMAND PACKAGE: makes sure that a command exists.
need() { need_that "command -v $1" "$1" "$2"; }

# need_file FILE PACKAGE: makes sure that a file exists.
need_file() { need_that "test -e $1" "$1" "$2"; }

# need_that CHECK THING PACKAGE: installs the package unless the check succeeds. If it cannot, it
# exits; callers that can do without the package call it in a subshell. THING is for the message.
need_that() {
	$1 >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "installing $3" >&2
		apt-get update -qq >&2
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$3" >&2
		$1 >/dev/null && return
	fi
	echo "$2 is missing. Install it (Debian: apt-get install $3) and run this again." >&2
	exit 1
}

# make_venv FOLDER: creates a virtual environment of Python with pip.
make_venv() {
	need python3 python3
	need_that has_ensurepip "the module ensurepip of Python" python3-venv
	python3 -m venv "$1"
}

# has_ensurepip reports whether Python can install pip into a virtual environment. Debian
# packages this separately from Python.
has_ensurepip() { python3 -c 'import ensurepip' 2>/dev/null; }

# need_go: makes sure that Go is installed. The go command itself checks the version in go.mod.
need_go() {
	# -trimpath leaves file paths out of compiled packages, so that all checkouts on a machine
	# share the build cache.
	export GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath"
	command -v go >/dev/null && return
	[ -x /usr/local/go/bin/go ] && PATH=$PATH:/usr/local/go/bin && return
	echo "Go is missing. See https://go.dev/doc/install for how to install it." >&2
	exit 1
}
