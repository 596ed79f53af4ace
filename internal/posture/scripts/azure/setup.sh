#!/usr/bin/env bash
# Sets up the event stream of Azure subscriptions to Vigil at @url@.
#
# In a separate resource group, the script creates an Event Grid topic for the
# subscription and a webhook to Vigil or, with --alert, an activity log alert that calls
# Vigil. Both call a secret address. Each run creates a new address and revokes the old one.
# The script deploys template.json, so that no command line contains the address. It can be
# run again.
#
#   VIGIL_API_TOKEN=... bash setup.sh [options] SUBSCRIPTION...
#
# The user of this script needs, for each subscription:
# Microsoft.Resources/subscriptions/resourceGroups/write, Microsoft.Resources/deployments/*,
# Microsoft.EventGrid/systemTopics/write, Microsoft.EventGrid/systemTopics/eventSubscriptions/write;
# with --alert Microsoft.Insights/actionGroups/write and Microsoft.Insights/activityLogAlerts/write.
set -euo pipefail

provider=azure
account_form='^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
# @library@

group=vigil-events
location=westeurope
manner=grid

usage() {
	say "usage: VIGIL_API_TOKEN=... bash setup.sh [options] SUBSCRIPTION...
  --file FILE      read subscriptions from a file, one per line
  --group NAME     resource group for everything; by default $group
  --location NAME  location of the group; by default $location
  --alert          use an activity log alert instead of Event Grid
  --dry-run        print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--group) group=${2:?} ;;
	--location) location=${2:?} ;;
	--alert)
		manner=alert
		option_words=0
		;;
	*) return 1 ;;
	esac
}

set_up() {
	local id=${1,,} answer handle endpoint
	if [[ -n $dry_run ]]; then
		answer="{\"handle\":\"HANDLE\",\"endpoint\":\"$VIGIL_URL/events/azure/SECRET\"}"
	else
		answer=$(call POST "/v1/cloud-accounts/$id/event-stream" '{}')
	fi
	handle=$(member handle <<<"$answer")
	endpoint=$(member endpoint <<<"$answer")
	folder=$(mktemp -d)
	# The file with the secret is private, and deleted on exit. The trap runs after this
	# function, so the variable folder must not be local.
	trap 'rm -rf "$folder"' EXIT
	fetch template.json "$folder/template.json"
	printf '{"name":{"value":"vigil-events-%s"},"endpoint":{"value":"%s"},"manner":{"value":"%s"}}' \
		"$handle" "$endpoint" "$manner" >"$folder/parameters.json"
	run az group create --subscription "$id" --name "$group" --location "$location" --tags created-by=vigil --output none
	run az deployment group create --subscription "$id" --resource-group "$group" --name "vigil-events-$handle" --mode Incremental \
		--template-file "$folder/template.json" --parameters "@$folder/parameters.json" --output none
	if [[ $manner == alert ]]; then
		announce "$id" "$endpoint"
	fi
	await_stream "$id"
}

# announce SUBSCRIPTION ENDPOINT sends a first message, which an alert does not send when
# it is created.
announce() {
	[[ -n $dry_run ]] && return
	local now
	now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
	local body="{\"schemaId\":\"Microsoft.Insights/activityLogs\",\"data\":{\"context\":{\"activityLog\":{\"operationName\":\"AzureStreamReady\",\"status\":\"Succeeded\",\"subscriptionId\":\"$1\",\"eventTimestamp\":\"$now\",\"eventDataId\":\"ready-$now-$RANDOM\"}}}}"
	curl --silent --show-error --fail --max-time 30 --output /dev/null --config - <<-END
		url = "$2"
		header = "Content-Type: application/json"
		data = "${body//\"/\\\"}"
	END
}

take_options "$@"
check_accounts
need az curl
[[ -n $dry_run ]] || log_in
each set_up
