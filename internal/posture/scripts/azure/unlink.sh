#!/usr/bin/env bash
# Ends that Vigil at @url@ reads Azure subscriptions: the links and the roles that
# link.sh made go, and with the last link the credential and the application. The
# subscriptions stay known to Vigil, as drafts. Doing it again does no harm.
#
#   VIGIL_API_TOKEN=... bash unlink.sh [options] SUBSCRIPTION...
#
# Least privilege of who runs it: Application.ReadWrite.OwnedBy in the directory; in
# each subscription Microsoft.Authorization/roleDefinitions/delete and
# Microsoft.Authorization/roleAssignments/delete.
set -euo pipefail

provider=azure
account_form='^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
# @library@
# @linking@

name=vigil-reader
group=

usage() {
	say "usage: VIGIL_API_TOKEN=... bash unlink.sh [options] SUBSCRIPTION...
  --file FILE               read subscriptions from a file, one in each line
  --name NAME               name of the application; by default $name
  --management-group GROUP  take the role on a management group away
  --dry-run                 show what would be done"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--name) name=${2:?} ;;
	--management-group) group=${2:?} ;;
	*) return 1 ;;
	esac
}

# take_role SCOPE NAME takes the role away that link.sh gave.
take_role() {
	if [[ -n $application ]]; then
		drop az role assignment delete --assignee "$application" --scope "$1" --output none
	fi
	if [[ -n $(az role definition list --name "Vigil Reader $2" --scope "$1" --query '[].name' --output tsv) ]]; then
		drop az role definition delete --name "Vigil Reader $2" --scope "$1" --output none
	fi
}

unlink_account() {
	local id=${1,,}
	unlink "$id" "$credential"
	take_role "/subscriptions/$id" "$id"
}

need az curl
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
application=$(az ad app list --display-name "$name" --query '[0].appId' --output tsv)
credential=
[[ -n $dry_run || -z $application ]] || credential=$(credential_with "$application")
each unlink_account
[[ -z $group ]] || take_role "/providers/Microsoft.Management/managementGroups/$group" "$group"
if [[ -z $application ]]; then
	say "there is no application $name"
elif forget_credential "$credential"; then
	drop az ad app delete --id "$application"
else
	say "other subscriptions are still linked: the application stays"
fi
