#!/usr/bin/env bash
# Gives Vigil at @url@ read access to AWS accounts.
#
# In each account, the script creates a role that only Vigil can assume, with the
# external id of your organisation, and managed policies with which the role can read the
# configuration of resources, but not the data in them. Then the script adds the account
# and the role to Vigil and links them. Run it again after an upgrade of Vigil: it updates
# the policies if this version reads more, and changes nothing otherwise.
#
#   VIGIL_API_TOKEN=... bash link.sh [options] ACCOUNT...
#
# The user of this script needs, on the role only: iam:GetRole, iam:CreateRole,
# iam:TagRole, iam:UpdateAssumeRolePolicy, iam:AttachRolePolicy, iam:DetachRolePolicy,
# iam:GetRolePolicy, iam:DeleteRolePolicy; on its policies: iam:GetPolicy,
# iam:CreatePolicy, iam:TagPolicy, iam:DeletePolicy, iam:GetPolicyVersion,
# iam:CreatePolicyVersion, iam:DeletePolicyVersion, iam:ListPolicyVersions;
# iam:ListPolicies; with --cloudformation also cloudformation:CreateChangeSet, DescribeChangeSet,
# ExecuteChangeSet, DescribeStacks, GetTemplateSummary; with --organization
# organizations:DescribeOrganization and organizations:ListAccounts; for accounts
# other than the caller's sts:AssumeRole.
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @linking@
# @become@
# @policies@

name=vigil-reader
trust='@principal@'
manner=role # or stack: make_role or make_stack creates the role
organization=
root=
policy_count=@count@

usage() {
	say "usage: VIGIL_API_TOKEN=... bash link.sh [options] ACCOUNT...
  --file FILE        read accounts from a file, one per line
  --name NAME        name of the role; by default $name
  --trust ARN        the AWS identity of Vigil, which may assume the role; by default ${trust:-not known}
  --role NAME        role to assume in accounts other than the caller's
  --organization     all active accounts of the caller's organisation
  --root ACCOUNT     the management account of the organisation
  --cloudformation   create a stack instead of single resources
  --dry-run          print what would be done, without changing anything"
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

# external_id prints the external id that the existing role requires, or the one that
# Vigil issues for the organisation. It fails if the role exists but cannot be read: otherwise
# a new external id would replace the one that the role requires.
external_id() {
	local id=
	if exists aws iam get-role --role-name "$name"; then
		id=$(aws iam get-role --role-name "$name" \
			--query 'Role.AssumeRolePolicyDocument.Statement[0].Condition.StringEquals."sts:ExternalId"' --output text) || return
	fi
	if [[ -z $id || $id == None ]]; then
		id=EXTERNAL-ID
		[[ -n $dry_run ]] || id=$(call GET /v1/cloud-credentials/aws-external-id | member externalId)
		[[ -n $id ]] || die "Vigil did not return an external id"
	fi
	printf '%s' "$id"
}

# make_role EXTERNAL_ID ACCOUNT creates or updates the role and its policies.
make_role() {
	local number arn trusting="{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"$trust\"},\"Action\":\"sts:AssumeRole\",\"Condition\":{\"StringEquals\":{\"sts:ExternalId\":\"$1\"}}}]}"
	if exists aws iam get-role --role-name "$name"; then
		run aws iam update-assume-role-policy --role-name "$name" --policy-document "$trusting"
	else
		run aws iam create-role --role-name "$name" --description 'Vigil reads how resources are configured' \
			--assume-role-policy-document "$trusting" --tags Key=created-by,Value=vigil >/dev/null
	fi
	for ((number = 1; number <= policy_count; number++)); do
		arn="arn:${partition}:iam::$2:policy/$name-$number"
		save_policy "$arn" "$folder/policy-$number.json"
		persist aws iam attach-role-policy --role-name "$name" --policy-arn "$arn"
	done
	remove_policies "$policy_count"
	if exists aws iam get-role-policy --role-name "$name" --policy-name read-configuration; then
		# Earlier versions of this script used an inline policy.
		run aws iam delete-role-policy --role-name "$name" --policy-name read-configuration
	fi
}

# make_stack EXTERNAL_ID creates or updates the role and its policies with CloudFormation.
make_stack() {
	run aws cloudformation deploy --stack-name "$name" --template-file "$folder/role.yaml" --capabilities CAPABILITY_NAMED_IAM --no-fail-on-empty-changeset \
		--parameter-overrides "RoleName=$name" "TrustedPrincipal=$trust" "ExternalId=$1" --tags created-by=vigil >/dev/null
}

link_account() {
	local external arn properties id=
	become "$1"
	external=$(external_id)
	arn="arn:${partition}:iam::$1:role/$name"
	"make_$manner" "$external" "$1"
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

# find_members lists the accounts of the organisation. The management account comes first,
# because it must exist in Vigil before its members.
find_members() {
	root=$(aws organizations describe-organization --query Organization.MasterAccountId --output text)
	accounts="$root $(aws organizations list-accounts --query "Accounts[?Status=='ACTIVE'].Id" --output text | tr '\t' '\n' | { grep -vx "$root" || true; } | tr '\n' ' ')"
}

need aws curl
take_options "$@"
if [[ -n $organization ]]; then
	find_members
fi
check_accounts
[[ -n $trust ]] || die "the AWS identity of Vigil is not known; set it with --trust ARN"
[[ -n $dry_run ]] || log_in
find_self
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((number = 1; number <= policy_count; number++)); do
	fetch "policy-$number.json" "$folder/policy-$number.json"
done
fetch role.yaml "$folder/role.yaml"
each link_account
