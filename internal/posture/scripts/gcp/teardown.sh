#!/usr/bin/env bash
# Removes the event stream of Google Cloud projects to Vigil at @url@: everything that
# setup.sh created, and nothing else. Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash teardown.sh [options] PROJECT...
set -euo pipefail

provider=gcp
account_form='^[a-z0-9-]{6,30}$'
# @library@

usage() {
	say "usage: VIGIL_API_TOKEN=... bash teardown.sh [options] PROJECT...
  --file FILE  read projects from a file, one per line
  --dry-run    print what would be done, without changing anything"
}

option_words=0
option() { return 1; }

tear_down() {
	local answer topic
	if [[ -n $dry_run ]]; then
		answer="{\"topicName\":\"vigil-events-HANDLE\",\"subscriptionName\":\"vigil-push-HANDLE\",\"serviceAccount\":\"vigil-push-HANDLE@$1.iam.gserviceaccount.com\"}"
	else
		answer=$(stream "$1")
	fi
	topic=$(member topicName <<<"$answer")
	[[ -n $topic ]] || {
		say "$1: there is no event stream"
		return 0
	}
	drop gcloud logging sinks delete "$topic" --project="$1" --quiet
	drop gcloud pubsub subscriptions delete "$(member subscriptionName <<<"$answer")" --project="$1" --quiet
	drop gcloud pubsub topics delete "$topic" --project="$1" --quiet
	drop gcloud iam service-accounts delete "$(member serviceAccount <<<"$answer")" --project="$1" --quiet
	report "$1" false
	[[ -n $dry_run ]] || call DELETE "/v1/cloud-accounts/$1/event-stream" >/dev/null
}

take_options "$@"
check_accounts
need gcloud curl
[[ -n $dry_run ]] || log_in
each tear_down
