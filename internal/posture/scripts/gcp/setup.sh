#!/usr/bin/env bash
# Sets up the event stream of Google Cloud projects to Vigil at @url@.
#
# In each project, the script creates a topic, a log sink that forwards the changes in the
# audit log, a subscription that pushes to Vigil, and a service account without permissions,
# as which Pub/Sub authenticates itself to Vigil. Running it again creates nothing new: it
# updates the sink and the subscription, and sends another test message.
#
#   VIGIL_API_TOKEN=... bash setup.sh [options] PROJECT...
#
# The user of this script needs, in each project: roles/pubsub.admin,
# roles/logging.configWriter, roles/iam.serviceAccountAdmin,
# roles/iam.serviceAccountUser, roles/serviceusage.serviceUsageAdmin,
# resourcemanager.projects.get.
set -euo pipefail

provider=gcp
account_form='^[a-z0-9-]{6,30}$'
# @library@

usage() {
	say "usage: VIGIL_API_TOKEN=... bash setup.sh [options] PROJECT...
  --file FILE  read projects from a file, one per line
  --dry-run    print what would be done, without changing anything"
}

option_words=0
option() { return 1; }

filter='logName:"cloudaudit.googleapis.com%2Factivity"'

set_up() {
	local answer topic subscription pusher endpoint number writer verb pubsub_agent
	if [[ -n $dry_run ]]; then
		answer="{\"topicName\":\"vigil-events-HANDLE\",\"subscriptionName\":\"vigil-push-HANDLE\",\"serviceAccount\":\"vigil-push-HANDLE@$1.iam.gserviceaccount.com\",\"endpoint\":\"$VIGIL_URL/events/gcp\"}"
	else
		answer=$(call POST "/v1/cloud-accounts/$1/event-stream" '{}')
	fi
	topic=$(member topicName <<<"$answer")
	subscription=$(member subscriptionName <<<"$answer")
	pusher=$(member serviceAccount <<<"$answer")
	endpoint=$(member endpoint <<<"$answer")

	run gcloud services enable pubsub.googleapis.com logging.googleapis.com iam.googleapis.com --project="$1"
	number=$(gcloud projects describe "$1" --format='value(projectNumber)')
	exists gcloud pubsub topics describe "$topic" --project="$1" --format=none --quiet ||
		run gcloud pubsub topics create "$topic" --project="$1" --labels=created-by=vigil
	verb=create
	exists gcloud logging sinks describe "$topic" --project="$1" --format=none --quiet && verb=update
	run gcloud logging sinks "$verb" "$topic" "pubsub.googleapis.com/projects/$1/topics/$topic" --project="$1" --log-filter="$filter"
	writer=WRITER # nothing is made in a dry run
	[[ -n $dry_run ]] || writer=$(gcloud logging sinks describe "$topic" --project="$1" --format='value(writerIdentity)')
	run gcloud pubsub topics add-iam-policy-binding "$topic" --project="$1" --member="$writer" --role=roles/pubsub.publisher >/dev/null

	exists gcloud iam service-accounts describe "$pusher" --project="$1" --format=none --quiet ||
		run gcloud iam service-accounts create "${pusher%%@*}" --project="$1" --display-name='Pushes events to Vigil'
	pubsub_agent="serviceAccount:service-$number@gcp-sa-pubsub.iam.gserviceaccount.com"
	run gcloud iam service-accounts add-iam-policy-binding "$pusher" --project="$1" --member="$pubsub_agent" --role=roles/iam.serviceAccountTokenCreator >/dev/null

	if exists gcloud pubsub subscriptions describe "$subscription" --project="$1" --format=none --quiet; then
		run gcloud pubsub subscriptions update "$subscription" --project="$1" --push-endpoint="$endpoint" \
			--push-auth-service-account="$pusher" --push-auth-token-audience="$endpoint"
	else
		run gcloud pubsub subscriptions create "$subscription" --project="$1" --topic="$topic" --push-endpoint="$endpoint" \
			--push-auth-service-account="$pusher" --push-auth-token-audience="$endpoint" --ack-deadline=30 --expiration-period=never \
			--min-retry-delay=10s --max-retry-delay=600s --labels=created-by=vigil
	fi
	run gcloud pubsub topics publish "$topic" --project="$1" --message='{}' --attribute=eventStreamStatus=connected >/dev/null
	await_stream "$1"
}

take_options "$@"
check_accounts
need gcloud curl
[[ -n $dry_run ]] || log_in
each set_up
