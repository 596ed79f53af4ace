#!/usr/bin/env bash
# Removes the event stream of Azure subscriptions to Vigil at @url@: everything that
# setup.sh created with any of its options, and the resource group if nothing else is in
# it. Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash teardown.sh [options] SUBSCRIPTION...
set -euo pipefail

provider=azure
account_form='^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
# @library@

group=vigil-events

usage() {
	say "usage: VIGIL_API_TOKEN=... bash teardown.sh [options] SUBSCRIPTION...
  --file FILE   read subscriptions from a file, one per line
  --group NAME  resource group of the event stream; by default $group
  --dry-run     print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--group) group=${2:?} ;;
	*) return 1 ;;
	esac
}

# remove SUBSCRIPTION TYPE NAME removes a resource if it exists.
remove() {
	local id="/subscriptions/$1/resourceGroups/$group/providers/$2/$3"
	if [[ -n $dry_run ]] || exists az resource show --ids "$id" --output none; then
		run az resource delete --ids "$id" --output none
	fi
}

tear_down() {
	local id=${1,,} answer handle name left
	if [[ -n $dry_run ]]; then
		handle=HANDLE
	else
		answer=$(stream "$id")
		handle=$(member handle <<<"$answer")
		[[ -n $handle ]] || {
			say "$id: there is no event stream"
			return 0
		}
	fi
	name=vigil-events-$handle
	remove "$id" Microsoft.EventGrid/systemTopics "$name"
	remove "$id" Microsoft.Insights/activityLogAlerts "$name"
	remove "$id" Microsoft.Insights/actionGroups "$name"
	if exists az resource list --subscription "$id" --resource-group "$group" --output none; then
		left=$(az resource list --subscription "$id" --resource-group "$group" --query 'length(@)' --output tsv)
		if [[ $left == 0 ]]; then
			run az group delete --subscription "$id" --name "$group" --yes --no-wait --output none
		fi
	fi
	report "$id" false
	[[ -n $dry_run ]] || call DELETE "/v1/cloud-accounts/$id/event-stream" >/dev/null
}

take_options "$@"
check_accounts
need az curl
[[ -n $dry_run ]] || log_in
each tear_down
