#!/usr/bin/env bash
# Ends that Vigil at @url@ reads AWS accounts: the link, the credential and the
# role that link.sh made go. The accounts stay known to Vigil, as drafts. Doing it
# again does no harm.
#
#   VIGIL_API_TOKEN=... bash unlink.sh [options] ACCOUNT...
#
# Least privilege of who runs it, on the role alone: iam:DeleteRolePolicy,
# iam:DeleteRole, or cloudformation:DescribeStacks and DeleteStack; for other
# accounts than the caller's sts:AssumeRole.
set -euo pipefail

provider=aws
account_form='^[0-9]{12}$'
# @library@
# @linking@
# @become@

name=vigil-reader

usage() {
	say "usage: VIGIL_API_TOKEN=... bash unlink.sh [options] ACCOUNT...
  --file FILE  read accounts from a file, one in each line
  --name NAME  name of the role; by default $name
  --role NAME  role to assume in accounts that are not the caller's
  --dry-run    show what would be done"
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
	if aws cloudformation describe-stacks --stack-name "$name" >/dev/null 2>&1; then
		run aws cloudformation delete-stack --stack-name "$name"
		return
	fi
	drop aws iam delete-role-policy --role-name "$name" --policy-name read-configuration
	drop aws iam delete-role --role-name "$name"
}

need aws curl
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
find_self
each unlink_account
