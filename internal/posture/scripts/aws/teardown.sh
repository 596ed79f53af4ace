#!/usr/bin/env bash
# Removes the event stream of AWS accounts to Vigil at @url@: everything that setup.sh
# created with any of its options, and nothing else. Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash teardown.sh [options] ACCOUNT...
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @become@

regions=

usage() {
	say "usage: VIGIL_API_TOKEN=... bash teardown.sh [options] ACCOUNT...
  --file FILE      read accounts from a file, one per line
  --regions 'A B'  only these regions; by default all enabled regions
  --role NAME      role to assume in accounts other than the caller's
  --dry-run        print what would be done, without changing anything"
}

option_words=0
option() {
	case $1 in
	--regions) regions=${2:?} ;;
	--role) role=${2:?} ;;
	*) return 1 ;;
	esac
	option_words=1
}

tear_down() {
	local answer name region failed=()
	become "$1"
	[[ -n $regions ]] || regions=$(aws ec2 describe-regions --query 'Regions[].RegionName' --output text | tr '\t' ' ')
	if [[ -n $dry_run ]]; then
		name=vigil-events-HANDLE
	else
		answer=$(stream "$1")
		name=$(member topicName <<<"$answer")
		[[ -n $name ]] || {
			say "$1: there is no event stream"
			return 0
		}
	fi
	for region in $regions; do
		attempt tear_down_region "$1" "$name" "$region"
		$succeeded || failed+=("$region")
	done
	# The server keeps the name of the stream, so that the script can be run again.
	[[ ${#failed[@]} -eq 0 ]] || die "$1: not removed in: ${failed[*]}; if the stream was not set up there, run the script again with --regions and the other regions"
	drop aws iam delete-role-policy --role-name "$name" --policy-name send
	drop aws iam delete-role --role-name "$name"
	report "$1" false
	[[ -n $dry_run ]] || call DELETE "/v1/cloud-accounts/$1/event-stream" >/dev/null
}

# tear_down_region ACCOUNT NAME REGION removes what the stream has in one region.
tear_down_region() {
	local rule
	if exists aws cloudformation describe-stacks --region "$3" --stack-name "$2"; then
		run aws cloudformation delete-stack --region "$3" --stack-name "$2"
	else
		for rule in "$2" "$2-heartbeat"; do
			drop aws events remove-targets --region "$3" --rule "$rule" --ids vigil
			drop aws events delete-rule --region "$3" --name "$rule"
		done
		drop aws sns delete-topic --region "$3" --topic-arn "arn:${partition}:sns:$3:$1:$2"
	fi
	# setup.sh --api-destination creates these in its first region only. Its --regions may
	# have differed, so look for them in every region.
	drop aws events delete-api-destination --region "$3" --name "$2"
	drop aws events delete-connection --region "$3" --name "$2"
}

take_options "$@"
check_accounts
need aws curl
[[ -n $dry_run ]] || log_in
find_self
each tear_down
