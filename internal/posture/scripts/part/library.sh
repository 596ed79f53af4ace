VIGIL_URL=${VIGIL_URL:-'@url@'}
accounts='@accounts@'
dry_run=
access_token=

say() { printf '%s\n' "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}

# run shows a command that changes something and runs it, unless nothing is to be
# changed. Secrets never stand on a command line, so all of it may be shown.
run() {
	say "+ $(printf '%q ' "$@")"
	[[ -n $dry_run ]] || "$@"
}

# member prints a text member of the JSON object on its input.
member() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" | head -n 1; }

# call METHOD PATH [BODY] calls the server and prints its answer. What is secret
# goes through the input of curl, not its command line.
call() {
	local body=${3:-} answer
	body=${body//\\/\\\\}
	answer=$(
		curl --silent --show-error --fail-with-body --max-time 30 --retry 2 --config - <<-END
			request = "$1"
			url = "$VIGIL_URL$2"
			header = "Authorization: Bearer $access_token"
			header = "Content-Type: application/json"
			data = "${body//\"/\\\"}"
		END
	) || {
		say "error: $1 $2: $(member message <<<"$answer")"
		return 1
	}
	printf '%s\n' "$answer"
}

# tell is call for what changes something: it is shown, and left when nothing is
# to be changed.
tell() {
	say "+ $1 $VIGIL_URL$2"
	[[ -n $dry_run ]] || call "$@"
}

# fetch NAME FILE gets a file that goes with this script.
fetch() { curl --silent --show-error --fail --max-time 30 --retry 2 --output "$2" "$VIGIL_URL/scripts/$provider/$1"; }

# log_in trades the API token for an access token.
log_in() {
	[[ -n ${VIGIL_API_TOKEN:-} ]] || die "set VIGIL_API_TOKEN to an API token of an administrator"
	access_token=$(
		curl --silent --show-error --fail --max-time 30 --retry 2 --config - <<-END | member access_token
			url = "$VIGIL_URL/csp/gateway/am/api/auth/api-tokens/authorize"
			data-urlencode = "refresh_token=$VIGIL_API_TOKEN"
		END
	) || true
	[[ -n $access_token ]] || die "the server does not take the API token"
}

# report ACCOUNT true|false tells the server whether the stream is set up.
report() {
	[[ -n $dry_run ]] && return
	call POST /status "{\"provider\":\"$provider\",\"account_id\":\"$1\",\"active\":$2}" >/dev/null
}

# await_stream ACCOUNT waits until the first message has reached the server.
await_stream() {
	[[ -n $dry_run ]] && return
	local attempt
	for ((attempt = 0; attempt < ${VIGIL_WAIT:-60}; attempt++)); do
		if call GET "/v1/cloud-accounts/$1" | grep -q '"eventStreamStatus":{"value":"connected"'; then
			say "$1: connected"
			return
		fi
		sleep "${VIGIL_PAUSE:-2}"
	done
	say "$1: everything is set up, but no message has reached the server yet"
	return 1
}

# each FUNCTION does something for every account, goes on when one fails, and
# tells in the end which did.
each() {
	local id code failed=()
	for id in $accounts; do
		say "$id"
		set +e
		(
			set -e
			"$1" "$id"
		)
		code=$?
		set -e
		[[ $code -eq 0 ]] || failed+=("$id")
	done
	[[ ${#failed[@]} -eq 0 ]] || die "not done for: ${failed[*]}"
	say "done"
}

# take_options reads the command line. What it does not know it leaves to option,
# which the script defines.
take_options() {
	local given=()
	while [[ $# -gt 0 ]]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--file)
			[[ $# -gt 1 ]] || die "--file takes a file with one account in each line"
			mapfile -t -O "${#given[@]}" given < <(sed 's/#.*//;s/[[:space:]]//g;/^$/d' "$2")
			shift
			;;
		--help)
			usage
			exit 0
			;;
		--*)
			option "$@" || {
				usage
				die "unknown option $1"
			}
			shift "$option_words"
			;;
		*) given+=("$1") ;;
		esac
		shift
	done
	[[ ${#given[@]} -eq 0 ]] || accounts=${given[*]}
}

# check_accounts makes sure of what the script is to be done for.
check_accounts() {
	[[ -n $accounts ]] || die "say for which accounts"
	local count=0 id
	for id in $accounts; do
		[[ $id =~ $account_form ]] || die "$id is not the id of an account"
		count=$((count + 1))
	done
	[[ $count -le 100 ]] || die "$count accounts are more than the 100 that one run takes"
}

# drop shows and runs a command that removes something. That it is gone already
# is no failure; anything else is.
drop() {
	local answer
	say "+ $(printf '%q ' "$@")"
	[[ -z $dry_run ]] || return 0
	answer=$("$@" 2>&1) && return
	grep -qiE 'NoSuchEntity|NotFound|not found|not exist|could not be found' <<<"$answer" && return
	say "$answer"
	return 1
}

need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || die "$program is not installed"
	done
}
