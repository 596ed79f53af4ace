VIGIL_URL=${VIGIL_URL:-'@url@'}
accounts='@accounts@'
dry_run=
access_token=
not_found=44 # exit code of call

say() { printf '%s\n' "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}

# run prints a command that changes something and executes it, except in a dry run.
# Command lines never contain secrets, so that they can be printed.
run() {
	say "+ $(printf '%q ' "$@")"
	[[ -n $dry_run ]] || "$@"
}

# member NAME prints a string member of the JSON object on its input.
member() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" | head -n 1; }

# call METHOD PATH [BODY] calls the server and prints its response. Secrets are passed
# through the input of curl, not its command line. The exit code of call is not_found if the
# server has no such object, and 1 on other errors.
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
		[[ $answer != *'"statusCode":404'* ]] || return "$not_found"
		return 1
	}
	printf '%s\n' "$answer"
}

# tell METHOD PATH BODY prints a request that changes something, and sends it with the function
# call unless this is a dry run.
tell() {
	say "+ $1 $VIGIL_URL$2"
	[[ -n $dry_run ]] || call "$@"
}

# fetch NAME FILE downloads a file that belongs to this script.
fetch() { curl --silent --show-error --fail --max-time 30 --retry 2 --output "$2" "$VIGIL_URL/scripts/$provider/$1"; }

# log_in exchanges the API token for an access token.
log_in() {
	[[ -n ${VIGIL_API_TOKEN:-} ]] || die "set VIGIL_API_TOKEN to an API token of an administrator"
	access_token=$(
		curl --silent --show-error --fail --max-time 30 --retry 2 --config - <<-END | member access_token
			url = "$VIGIL_URL/csp/gateway/am/api/auth/api-tokens/authorize"
			data-urlencode = "refresh_token=$VIGIL_API_TOKEN"
		END
	) || true
	[[ -n $access_token ]] || die "the server refuses the API token"
}

# report ACCOUNT true|false reports to the server whether the stream is set up.
report() {
	[[ -n $dry_run ]] && return
	call POST /status "{\"provider\":\"$provider\",\"account_id\":\"$1\",\"active\":$2}" >/dev/null
}

# stream ACCOUNT prints the event stream of an account, or nothing if it has none.
stream() { call GET "/v1/cloud-accounts/$1/event-stream" || [[ $? -eq $not_found ]]; }

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
	say "$1: the stream is set up, but the server has not received a message yet"
	return 1
}

# attempt COMMAND... runs a command whose failure does not end the script, and sets succeeded to
# true or false. The caller must not use it in a condition: there, bash ignores set -e in the command.
attempt() {
	local code
	set +e
	(
		set -e
		"$@"
	)
	code=$?
	set -e
	succeeded=true
	[[ $code -eq 0 ]] || succeeded=false
}

# each FUNCTION calls the function for every account, continues if one fails, and prints
# the failed accounts at the end.
each() {
	local id failed=()
	for id in $accounts; do
		say "$id"
		attempt "$1" "$id"
		$succeeded || failed+=("$id")
	done
	[[ ${#failed[@]} -eq 0 ]] || die "not done for: ${failed[*]}"
	say "done"
}

# take_options parses the command line. Scripts with options of their own define a function
# named option. It is called with the remaining words, and sets option_words to the number of
# words that follow the name of the option.
take_options() {
	local given=() listed
	while [[ $# -gt 0 ]]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--file)
			[[ $# -gt 1 ]] || die "--file requires a file with one account per line"
			listed=$(sed 's/#.*//;s/[[:space:]]//g;/^$/d' <"$2") || die "cannot read $2"
			# An empty list must not select the accounts for which the script was downloaded.
			[[ -n $listed ]] || die "$2 names no accounts"
			mapfile -t -O "${#given[@]}" given <<<"$listed"
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

# check_accounts validates the list of accounts.
check_accounts() {
	[[ -n $accounts ]] || die "no accounts given; run the script with --help"
	local count=0 id
	for id in $accounts; do
		[[ $id =~ $account_form ]] || die "$id is not an account id"
		count=$((count + 1))
	done
	[[ $count -le 100 ]] || die "$count accounts given, but one run handles at most 100"
}

# missing matches the errors by which clouds report that an object does not exist. It also
# matches the errors for a disabled service in a project of Google Cloud, and for an operation
# that a region of AWS does not offer: no object exists there.
missing="NoSuchEntity|NotFound|NOT_FOUND|not found|not exist|doesn't exist|could not be found|SERVICE_DISABLED|has not been used in project|UnknownOperationException"

# denied matches the error by which Google Cloud refuses access: "denied on resource (or it may
# not exist)".
denied="it may not exist"

# unreadable matches the errors by which Azure reports a subscription that the caller may not
# read. They say that the subscription was not found, which does not mean that the objects in
# it do not exist.
unreadable="SubscriptionNotFound|subscription (of )?'[^']*' (not found|could not be found|doesn't exist)"

# is_missing ANSWER reports whether a cloud answered that an object does not exist.
is_missing() { grep -qiE "$missing" <<<"$1" && ! grep -qiE "$unreadable|$denied" <<<"$1"; }

# exists COMMAND... reports whether a command that describes an object finds one. Any error other
# than a missing object ends the script. Otherwise an object that may not be read would count as
# missing: callers use this function in conditions, where bash ignores set -e.
exists() {
	local answer
	answer=$("$@" 2>&1 >/dev/null) && return
	if is_missing "$answer"; then
		return 1
	fi
	say "$answer"
	if grep -qiE "$unreadable" <<<"$answer"; then
		say "if the subscription was deleted, remove its account from Vigil: that removes its event stream, too"
	fi
	die "cannot find out whether it exists: $(printf '%q ' "$@")"
}

# drop prints and executes a command that removes something. It succeeds if the object
# does not exist, and fails on any other error.
drop() {
	local answer
	say "+ $(printf '%q ' "$@")"
	[[ -z $dry_run ]] || return 0
	answer=$("$@" 2>&1) && return
	if is_missing "$answer"; then
		return
	fi
	say "$answer"
	return 1
}

need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || die "$program is not installed"
	done
}
