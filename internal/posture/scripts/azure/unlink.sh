#!/usr/bin/env bash
# Revokes the read access of Vigil at @url@ to Azure subscriptions: removes the links and
# roles that link.sh created and, with the last link, the credential and the application.
# The subscriptions stay in Vigil as drafts. Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash unlink.sh [options] SUBSCRIPTION...
#
# The user of this script needs: Application.ReadWrite.OwnedBy in the directory; in
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
  --file FILE               read subscriptions from a file, one per line
  --name NAME               name of the application; by default $name
  --management-group GROUP  remove the role on a management group
  --dry-run                 print what would be done, without changing anything"
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

# remove_role SCOPE NAME removes the role assignment that link.sh created.
remove_role() {
	local definition
	if [[ -n $application ]]; then
		drop az role assignment delete --assignee "$application" --scope "$1" --output none
	fi
	definition=$(az role definition list --name "Vigil Reader $2" --scope "$1" --query '[].name' --output tsv)
	if [[ -n $definition ]]; then
		drop az role definition delete --name "Vigil Reader $2" --scope "$1" --output none
	fi
}

unlink_account() {
	local id=${1,,}
	unlink "$id" "$credential"
	remove_role "/subscriptions/$id" "$id"
}

need az curl
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
application=$(az ad app list --display-name "$name" --query '[0].appId' --output tsv)
credential=
[[ -n $dry_run || -z $application ]] || credential=$(credential_with "$application")
each unlink_account
[[ -z $group ]] || remove_role "/providers/Microsoft.Management/managementGroups/$group" "$group"
if [[ -z $application ]]; then
	say "there is no application $name"
elif forget_credential "$credential"; then
	drop az ad app delete --id "$application"
else
	say "other subscriptions are still linked: keeping the application"
fi
