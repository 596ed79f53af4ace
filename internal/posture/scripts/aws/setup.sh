#!/usr/bin/env bash
# Sets up the event stream of AWS accounts to Vigil at @url@.
#
# In every enabled region, the script creates a topic to which only EventBridge can
# publish, a rule that forwards the changes that CloudTrail records, and a subscription
# of the topic to Vigil. In the first region it also creates an hourly heartbeat. Running
# it again changes nothing.
#
#   VIGIL_API_TOKEN=... bash setup.sh [options] ACCOUNT...
#
# The user of this script needs: cloudtrail:DescribeTrails,
# cloudtrail:GetTrailStatus, ec2:DescribeRegions, events:PutRule,
# events:PutTargets, events:TagResource, sns:CreateTopic, sns:SetTopicAttributes,
# sns:Subscribe, sns:TagResource; with --cloudformation also
# cloudformation:CreateChangeSet, DescribeChangeSet, ExecuteChangeSet,
# DescribeStacks; with --api-destination events:DescribeConnection,
# events:CreateConnection, events:UpdateConnection,
# events:DescribeApiDestination, events:CreateApiDestination,
# events:UpdateApiDestination, iam:CreateRole, iam:PutRolePolicy, iam:PassRole;
# for accounts other than the caller's sts:AssumeRole.
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @become@

regions=
manner=topic

usage() {
	say "usage: VIGIL_API_TOKEN=... bash setup.sh [options] ACCOUNT...
  --file FILE         read accounts from a file, one per line
  --regions 'A B'     only these regions; by default all enabled regions
  --role NAME         role to assume in accounts other than the caller's
  --cloudformation    create stacks instead of single resources
  --api-destination   send directly to Vigil with a token, without SNS
  --dry-run           print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=0
	case $1 in
	--regions)
		regions=${2:?}
		option_words=1
		;;
	--role)
		role=${2:?}
		option_words=1
		;;
	--cloudformation) manner=stack ;;
	--api-destination) manner=destination ;;
	*) return 1 ;;
	esac
}

# check_trail makes sure that CloudTrail records changes.
check_trail() {
	local name home
	while read -r name home; do
		[[ -n $name && $name != None ]] || continue
		if [[ $(aws cloudtrail get-trail-status --region "$home" --name "$name" --query IsLogging --output text) == True ]]; then
			return
		fi
	done < <(aws cloudtrail describe-trails --query 'trailList[].[TrailARN,HomeRegion]' --output text)
	die "CloudTrail has no active trail, and without one there are no events; create a trail first"
}

pattern='{"detail-type":["AWS API Call via CloudTrail","AWS Console Sign In via CloudTrail"],"detail":{"readOnly":[false]}}'

# make_topic REGION ACCOUNT NAME creates the topic, to which only our rules can publish,
# and prints its ARN. It is called in $(...), where bash ignores set -e.
make_topic() {
	local arn="arn:${partition}:sns:$1:$2:$3"
	local policy="{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"rules\",\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"events.amazonaws.com\"},\"Action\":\"sns:Publish\",\"Resource\":\"$arn\",\"Condition\":{\"ArnLike\":{\"aws:SourceArn\":\"arn:${partition}:events:$1:$2:rule/$3*\"}}}]}"
	run aws sns create-topic --region "$1" --name "$3" --tags Key=created-by,Value=vigil >/dev/null || return
	run aws sns set-topic-attributes --region "$1" --topic-arn "$arn" --attribute-name SignatureVersion --attribute-value 2 || return
	run aws sns set-topic-attributes --region "$1" --topic-arn "$arn" --attribute-name Policy --attribute-value "$policy" || return
	printf '%s' "$arn"
}

# set_topics ACCOUNT NAME ENDPOINT sets up the stream with SNS.
set_topics() {
	local region arn first=1
	for region in $regions; do
		arn=$(make_topic "$region" "$1" "$2")
		run aws sns subscribe --region "$region" --topic-arn "$arn" --protocol "${3%%:*}" --notification-endpoint "$3" >/dev/null
		run aws events put-rule --region "$region" --name "$2" --event-pattern "$pattern" --tags Key=created-by,Value=vigil >/dev/null
		run aws events put-targets --region "$region" --rule "$2" --targets "Id=vigil,Arn=$arn" >/dev/null
		if [[ -n $first ]]; then
			run aws events put-rule --region "$region" --name "$2-heartbeat" --schedule-expression 'rate(1 hour)' --tags Key=created-by,Value=vigil >/dev/null
			run aws events put-targets --region "$region" --rule "$2-heartbeat" --targets "Id=vigil,Arn=$arn" >/dev/null
			first=
		fi
	done
}

# set_stacks ACCOUNT NAME ENDPOINT sets up the stream with CloudFormation.
set_stacks() {
	local region template heartbeat=true
	template=$(mktemp)
	fetch template.yaml "$template"
	for region in $regions; do
		run aws cloudformation deploy --region "$region" --stack-name "$2" --template-file "$template" --no-fail-on-empty-changeset \
			--parameter-overrides "TopicName=$2" "Endpoint=$3" "Heartbeat=$heartbeat" --tags created-by=vigil >/dev/null
		heartbeat=false
	done
	rm -f "$template"
}

# send_file REGION ACTION PARAMETERS runs an action of EventBridge. It passes the
# parameters in a private file, which it deletes afterwards, for two reasons: a token must
# not be on a command line, and version 1 of the AWS command line replaces an address on
# the command line with what it downloads from the address. Standard input does not work
# instead, because aws reads the parameters twice.
send_file() {
	local file code=0
	file=$(mktemp)
	printf '%s' "$3" >"$file"
	run aws events "$2" --region "$1" --cli-input-json "file://$file" >/dev/null || code=$?
	rm -f "$file"
	return "$code"
}

# set_destination ACCOUNT NAME ENDPOINT SECRET sets up the stream without SNS: the first
# region calls Vigil, the others forward their events to it.
set_destination() {
	local region home=${regions%% *} caller bus
	local connection=CONNECTION destination=DESTINATION # a dry run prints these words, because it creates neither
	local trust='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Action":"sts:AssumeRole"}]}'
	bus="arn:${partition}:events:$home:$1:event-bus/default"
	caller="arn:${partition}:iam::$1:role/$2"
	# create-role fails if an earlier run created the role.
	run aws iam create-role --role-name "$2" --assume-role-policy-document "$trust" --tags Key=created-by,Value=vigil >/dev/null || true
	run aws iam put-role-policy --role-name "$2" --policy-name send --policy-document \
		"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"events:InvokeApiDestination\",\"Resource\":\"arn:${partition}:events:$home:$1:api-destination/$2/*\"},{\"Effect\":\"Allow\",\"Action\":\"events:PutEvents\",\"Resource\":\"$bus\"}]}"
	local action=create-connection
	exists aws events describe-connection --region "$home" --name "$2" && action=update-connection
	send_file "$home" "$action" "{\"Name\":\"$2\",\"AuthorizationType\":\"API_KEY\",\"AuthParameters\":{\"ApiKeyAuthParameters\":{\"ApiKeyName\":\"X-Event-Token\",\"ApiKeyValue\":\"$4\"}}}" || return
	[[ -n $dry_run ]] || connection=$(aws events describe-connection --region "$home" --name "$2" --query ConnectionArn --output text)
	action=create-api-destination
	exists aws events describe-api-destination --region "$home" --name "$2" && action=update-api-destination
	send_file "$home" "$action" "{\"Name\":\"$2\",\"ConnectionArn\":\"$connection\",\"InvocationEndpoint\":\"$3\",\"HttpMethod\":\"POST\",\"InvocationRateLimitPerSecond\":50}" || return
	[[ -n $dry_run ]] || destination=$(aws events describe-api-destination --region "$home" --name "$2" --query ApiDestinationArn --output text)
	for region in $regions; do
		run aws events put-rule --region "$region" --name "$2" --event-pattern "$pattern" --tags Key=created-by,Value=vigil >/dev/null
		if [[ $region == "$home" ]]; then
			run aws events put-targets --region "$region" --rule "$2" --targets "Id=vigil,Arn=$destination,RoleArn=$caller" >/dev/null
		else
			run aws events put-targets --region "$region" --rule "$2" --targets "Id=vigil,Arn=$bus,RoleArn=$caller" >/dev/null
		fi
	done
	run aws events put-rule --region "$home" --name "$2-heartbeat" --schedule-expression 'rate(1 hour)' --tags Key=created-by,Value=vigil >/dev/null
	run aws events put-targets --region "$home" --rule "$2-heartbeat" --targets "Id=vigil,Arn=$destination,RoleArn=$caller" >/dev/null
}

set_up() {
	local answer name endpoint
	become "$1"
	check_trail
	[[ -n $regions ]] || regions=$(aws ec2 describe-regions --query 'Regions[].RegionName' --output text | tr '\t' ' ')
	if [[ -n $dry_run ]]; then
		answer="{\"topicName\":\"vigil-events-HANDLE\",\"endpoint\":\"$VIGIL_URL/events/aws\",\"secret\":\"SECRET\"}"
	else
		answer=$(call POST "/v1/cloud-accounts/$1/event-stream" '{}')
	fi
	name=$(member topicName <<<"$answer")
	endpoint=$(member endpoint <<<"$answer")
	case $manner in
	topic) set_topics "$1" "$name" "$endpoint" ;;
	stack) set_stacks "$1" "$name" "$endpoint" ;;
	destination)
		set_destination "$1" "$name" "$endpoint" "$(member secret <<<"$answer")"
		report "$1" true # EventBridge sends no first message; SNS does
		;;
	esac
	await_stream "$1"
}

take_options "$@"
check_accounts
need aws curl
[[ -n $dry_run ]] || log_in
find_self
each set_up
