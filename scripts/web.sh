#!/usr/bin/env bash
# Sourced by the other scripts: builds the console if Node is installed, and prints
# a message otherwise. A build that is newer than its sources is kept.

# has_node reports whether npm and a version of Node that web/package.json accepts are installed.
has_node() {
	command -v npm >/dev/null &&
		node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

build_web() {
	if ! has_node; then
		echo "Node 20.19 or newer is missing: building without the console. The page /console/ explains how to build it." >&2
		return
	fi
	local built=web/dist/app/index.html
	if [ -e $built ] && [ -z "$(find web/src web/public web/build web/index.html web/package-lock.json web/vite.config.ts \
		internal/posture/api/openapi.yaml internal/desktop/api/openapi.yaml -newer $built -print -quit)" ]; then
		return
	fi
	echo "building the console" >&2
	install_web
	(cd web && npm run --silent build >&2)
}

# install_web installs the packages of the lock file, unless they are installed. It does
# not use "npm ci", which refuses a lock file without the optional packages of other
# systems: not every registry has them.
install_web() {
	[ web/node_modules/.package-lock.json -nt web/package-lock.json ] || (cd web && npm install --no-save --no-audit --no-fund --loglevel=error >&2)
}
