#!/usr/bin/env bash
# Lets Vigil at @url@ read AWS accounts.
#
# In each account: a role that only Vigil may take on, with the external id of your
# organisation, and that may read how resources are configured and nothing that they hold.
# Then the account and the role are made known to Vigil and linked. Doing it again
# changes nothing.
#
#   VIGIL_API_TOKEN=... bash link.sh [options] ACCOUNT...
#
# Least privilege of who runs it, on the role alone: iam:GetRole, iam:CreateRole,
# iam:TagRole, iam:PutRolePolicy, iam:UpdateAssumeRolePolicy; with
# --cloudformation also cloudformation:CreateChangeSet, DescribeChangeSet,
# ExecuteChangeSet, DescribeStacks, GetTemplateSummary; with --organization
# organizations:DescribeOrganization and organizations:ListAccounts; for other
# accounts than the caller's sts:AssumeRole.
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @linking@
# @become@

name=vigil-reader
trust='@principal@'
manner=role
organization=
root=

usage() {
	say "usage: VIGIL_API_TOKEN=... bash link.sh [options] ACCOUNT...
  --file FILE        read accounts from a file, one in each line
  --name NAME        name of the role to make; by default $name
  --trust ARN        who may take on the role; by default ${trust:-not known}
  --role NAME        role to assume in accounts that are not the caller's
  --organization     all active accounts of the caller's organisation
  --root ACCOUNT     the account that manages the others
  --cloudformation   as a stack instead of single resources
  --dry-run          show what would be done"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--name) name=${2:?} ;;
	--trust) trust=${2:?} ;;
	--role) role=${2:?} ;;
	--root) root=${2:?} ;;
	*)
		option_words=0
		case $1 in
		--organization) organization=1 ;;
		--cloudformation) manner=stack ;;
		*) return 1 ;;
		esac
		;;
	esac
}

# external_id prints the external id that the role asks for, or the one that Vigil
# issues for the organisation.
external_id() {
	local id
	id=$(aws iam get-role --role-name "$name" \
		--query 'Role.AssumeRolePolicyDocument.Statement[0].Condition.StringEquals."sts:ExternalId"' --output text 2>/dev/null || true)
	if [[ -z $id || $id == None ]]; then
		id=EXTERNAL-ID
		[[ -n $dry_run ]] || id=$(call GET /v1/cloud-credentials/aws-external-id | member externalId)
		[[ -n $id ]] || die "Vigil issues no external id"
	fi
	printf '%s' "$id"
}

# make_role EXTERNAL_ID makes the role, or makes it as it should be.
make_role() {
	local trusting="{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"$trust\"},\"Action\":\"sts:AssumeRole\",\"Condition\":{\"StringEquals\":{\"sts:ExternalId\":\"$1\"}}}]}"
	if aws iam get-role --role-name "$name" >/dev/null 2>&1; then
		run aws iam update-assume-role-policy --role-name "$name" --policy-document "$trusting"
	else
		run aws iam create-role --role-name "$name" --description 'Vigil reads how resources are configured' \
			--assume-role-policy-document "$trusting" --tags Key=created-by,Value=vigil >/dev/null
	fi
	run aws iam put-role-policy --role-name "$name" --policy-name read-configuration --policy-document "file://$folder/policy.json"
}

# make_stack EXTERNAL_ID makes the role with CloudFormation.
make_stack() {
	run aws cloudformation deploy --stack-name "$name" --template-file "$folder/role.yaml" --capabilities CAPABILITY_NAMED_IAM --no-fail-on-empty-changeset \
		--parameter-overrides "RoleName=$name" "TrustedPrincipal=$trust" "ExternalId=$1" --tags created-by=vigil >/dev/null
}

link_account() {
	local external arn properties id=
	become "$1"
	external=$(external_id)
	arn="arn:${partition}:iam::$1:role/$name"
	"make_$manner" "$external"
	[[ -n $dry_run ]] || id=$(credential_with "$arn")
	id=$(save_credential "$id" "$(property RoleArn "$arn"),$(property ExternalId "$external")")
	properties=$(property accountId "$1")
	if [[ $1 == "$root" ]]; then
		properties+=',{"name":"IsRoot","type":"bool","boolV":true}'
	elif [[ -n $root ]]; then
		properties+=,$(property RootCloudAccountId "$root")
	fi
	save_account "$1" "$properties"
	link "$1" "$id"
}

# find_members lists the accounts of the organisation, the managing one first: it
# must be known before its members are.
find_members() {
	root=$(aws organizations describe-organization --query Organization.MasterAccountId --output text)
	accounts="$root $(aws organizations list-accounts --query "Accounts[?Status=='ACTIVE'].Id" --output text | tr '\t' '\n' | grep -vx "$root" | tr '\n' ' ')"
}

need aws curl
take_options "$@"
if [[ -n $organization ]]; then
	find_members
fi
check_accounts
[[ -n $trust ]] || die "say with --trust who may take on the role: what Vigil runs as"
[[ -n $dry_run ]] || log_in
find_self
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch policy.json "$folder/policy.json"
fetch role.yaml "$folder/role.yaml"
each link_account
