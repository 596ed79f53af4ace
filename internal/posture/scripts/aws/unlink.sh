#!/usr/bin/env bash
# Revokes the read access of Vigil at @url@ to AWS accounts: removes the link, the
# credential, the role and the policies that link.sh created. The accounts stay in Vigil
# as drafts.
# Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash unlink.sh [options] ACCOUNT...
#
# The user of this script needs, on the role and its policies only: iam:DetachRolePolicy,
# iam:DeleteRolePolicy, iam:DeleteRole, iam:ListPolicyVersions, iam:DeletePolicyVersion,
# iam:DeletePolicy; iam:ListPolicies; cloudformation:DescribeStacks, and cloudformation:DeleteStack if
# link.sh created a stack; for accounts other than the caller's sts:AssumeRole.
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @linking@
# @become@
# @policies@

name=vigil-reader

usage() {
	say "usage: VIGIL_API_TOKEN=... bash unlink.sh [options] ACCOUNT...
  --file FILE  read accounts from a file, one per line
  --name NAME  name of the role; by default $name
  --role NAME  role to assume in accounts other than the caller's
  --dry-run    print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--name) name=${2:?} ;;
	--role) role=${2:?} ;;
	*) return 1 ;;
	esac
}

unlink_account() {
	local id=
	become "$1"
	[[ -n $dry_run ]] || id=$(credential_with "arn:${partition}:iam::$1:role/$name")
	unlink "$1" "$id"
	forget_credential "$id"
	if exists aws cloudformation describe-stacks --stack-name "$name"; then
		run aws cloudformation delete-stack --stack-name "$name"
		return
	fi
	remove_policies 0
	# Earlier versions of link.sh used an inline policy.
	drop aws iam delete-role-policy --role-name "$name" --policy-name read-configuration
	drop aws iam delete-role --role-name "$name"
}

need aws curl
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
find_self
each unlink_account
