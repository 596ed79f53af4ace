# property NAME VALUE prints a property of an account or credential.
property() { printf '{"name":"%s","type":"string","stringV":"%s"}' "$1" "$2"; }

# credential_with VALUE prints the id of the credential that has this value, or nothing. It
# fails if the server refuses the request: otherwise callers would conclude that there is no
# such credential. The return is explicit because bash ignores set -e in $(...).
credential_with() {
	local all start='{"credentialId"'
	all=$(call POST /v1/cloud-credentials/query "{\"filters\":{\"providers\":[\"$provider\"]}}") || return
	# Put each credential of the answer on a line of its own.
	printf '%s\n' "${all//"$start"/$'\n'$start}" | grep -F "\"stringV\":\"$1\"" | member credentialId || true
}

# save_credential ID PROPERTIES changes a credential, or creates one if the id is empty,
# and prints its id.
save_credential() {
	local body="{\"credentialType\":\"collection\",\"properties\":[$2]}"
	if [[ -n $1 ]]; then
		tell PUT "/v1/providers/$provider/cloud-credentials/$1" "$body" >/dev/null || return
		printf '%s\n' "$1"
	else
		tell POST "/v1/providers/$provider/cloud-credentials" "$body" | member credentialId
	fi
}

# save_account ID PROPERTIES adds an account to Vigil, unless it exists.
save_account() {
	if [[ -z $dry_run ]] && call GET "/v1/providers/$provider/cloud-accounts/$1" >/dev/null 2>&1; then
		return
	fi
	tell POST "/v1/providers/$provider/cloud-accounts" "{\"cloudAccountName\":\"$1\",\"cspProjectId\":\"default\",\"properties\":[$2]}" >/dev/null
}

# link ACCOUNT CREDENTIAL links them and waits until the server can read the account. The
# cloud may refuse at first, because new identities take a while to propagate. After a
# refusal, link requests another validation: adding an existing link again starts none.
link() {
	local attempt state=
	tell POST "/v1/providers/$provider/account-credential-relationship" "{\"cloudAccountId\":\"$1\",\"credentialId\":\"$2\"}" >/dev/null
	[[ -z $dry_run ]] || return 0
	for ((attempt = 0; attempt < ${VIGIL_WAIT:-60}; attempt++)); do
		if [[ $state == validation-failed || $state == deny-access ]]; then
			tell POST "/v1/cloud-accounts/$1/validation" >/dev/null
		fi
		sleep "${VIGIL_PAUSE:-5}"
		state=$(call GET "/v1/providers/$provider/cloud-accounts/$1" | sed -n 's/.*"accountStatus":{"value":"\([^"]*\)".*/\1/p')
		if [[ $state == active ]]; then
			say "$1: active"
			return
		fi
	done
	say "$1: linked, but its status is $state"
	return 1
}

# unlink ACCOUNT CREDENTIAL removes a link, if it exists.
unlink() {
	[[ -n $2 || -n $dry_run ]] || return 0
	tell DELETE "/v1/providers/$provider/$1_$2" >/dev/null || [[ $? -eq $not_found ]]
}

# forget_credential ID removes a credential, and fails if an account is linked to it. It
# ends the script on other errors, because callers use it in conditions, where bash ignores
# set -e.
forget_credential() {
	[[ -n $1 || -n $dry_run ]] || return 0
	local all
	if [[ -z $dry_run ]]; then
		all=$(call POST /v1/cloud-accounts/query "{\"filters\":{\"providers\":[\"$provider\"]},\"getCredentials\":true}") ||
			die "it is not known whether other accounts use the credential: keeping the credential"
		# The answer lists the links after "relationships". The text before also contains credentials.
		if grep -qF "\"credentialId\":\"$1\"}" <<<"${all##*\"relationships\":}"; then
			return 1
		fi
	fi
	tell DELETE "/v1/providers/$provider/cloud-credentials/$1" >/dev/null || die "the credential was not removed"
}

# persist repeats a failing command, because the objects that it names may not have
# propagated yet.
persist() {
	local attempt
	for attempt in 1 2 3 4 5 6; do
		run "$@" && return
		sleep "${VIGIL_PAUSE:-5}"
	done
	return 1
}
