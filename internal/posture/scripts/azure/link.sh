#!/usr/bin/env bash
# Gives Vigil at @url@ read access to Azure subscriptions.
#
# In the directory, the script creates an application with a secret that it sends
# directly to Vigil. In each subscription, it assigns the application a role that can
# read the configuration of resources, but not the data in them. Then it adds the
# subscriptions and a credential to Vigil and links them. Run it again after an upgrade of
# Vigil: it updates the role and requests permissions in the directory if this version
# reads more, and changes nothing otherwise.
#
#   VIGIL_API_TOKEN=... bash link.sh [options] SUBSCRIPTION...
#
# The user of this script needs: in the directory Application.ReadWrite.OwnedBy, and the
# role Privileged Role Administrator to consent to the permissions in Microsoft Graph;
# in each subscription Microsoft.Authorization/roleDefinitions/write and
# Microsoft.Authorization/roleAssignments/write.
set -euo pipefail

provider=azure
account_form='^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
# @library@
# @linking@

name=vigil-reader
group=
role=
directory=1
renew=
graph=00000003-0000-0000-c000-000000000000 # Microsoft Graph, in every directory

usage() {
	say "usage: VIGIL_API_TOKEN=... bash link.sh [options] SUBSCRIPTION...
  --file FILE               read subscriptions from a file, one per line
  --name NAME               name of the application; by default $name
  --management-group GROUP  assign the role on a management group, and link all
                            subscriptions below it if none are given
  --role NAME               an existing role, such as Reader, instead of a custom
                            role with just what Vigil reads
  --no-directory            do not request access to users, groups and applications
  --renew                   create a new secret; old ones stay valid until they expire
  --dry-run                 print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--name) name=${2:?} ;;
	--management-group) group=${2:?} ;;
	--role) role=${2:?} ;;
	*)
		option_words=0
		case $1 in
		--no-directory) directory= ;;
		--renew) renew=1 ;;
		*) return 1 ;;
		esac
		;;
	esac
}

# make_application creates the application and its service principal.
make_application() {
	application=$(az ad app list --display-name "$name" --query '[0].appId' --output tsv)
	if [[ -z $application ]]; then
		run az ad app create --display-name "$name" --sign-in-audience AzureADMyOrg --output none
		application=$(az ad app list --display-name "$name" --query '[0].appId' --output tsv)
	fi
	if [[ -z $application ]]; then
		application=APPLICATION principal=PRINCIPAL # nothing is made in a dry run
		return
	fi
	if exists az ad sp show --id "$application" --output none; then
		principal=$(az ad sp show --id "$application" --query id --output tsv)
	else
		principal=$(persist az ad sp create --id "$application" --query id --output tsv)
		principal=${principal:-PRINCIPAL} # nothing is made in a dry run
	fi
}

# ask_directory requests the permissions in Microsoft Graph that the application needs.
ask_directory() {
	local permission id have='' asked=
	[[ $application == APPLICATION ]] || have=$(az ad app permission list --id "$application" --query '[].resourceAccess[].id' --output tsv)
	while read -r permission; do
		id=$(az ad sp show --id "$graph" --query "appRoles[?value=='$permission'].id" --output tsv)
		if ! grep -qx "$id" <<<"$have"; then
			run az ad app permission add --id "$application" --api "$graph" --api-permissions "$id=Role" --output none --only-show-errors
			asked=1
		fi
	done <"$folder/graph.txt"
	if [[ -n $asked ]] && ! persist az ad app permission admin-consent --id "$application" --output none; then
		say "an administrator of the directory must consent to the permissions that $name requests in Microsoft Graph; until then users, groups and applications are unknown"
	fi
}

# make_credential creates the secret and sends it to Vigil.
make_credential() {
	local secret tenant
	credential=
	[[ -n $dry_run ]] || credential=$(credential_with "$application")
	if [[ -n $credential && -z $renew ]]; then
		return
	fi
	tenant=$(az account show --query tenantId --output tsv)
	secret=$(run az ad app credential reset --id "$application" --append --display-name vigil --years 1 --query password --output tsv --only-show-errors)
	credential=$(save_credential "$credential" "$(property ApplicationId "$application"),$(property ApplicationKey "$secret"),$(property DirectoryId "$tenant")")
}

# give_role SCOPE NAME assigns the role to the application on a subscription or group.
give_role() {
	local assigned=$role verb=create
	if [[ -z $assigned ]]; then
		assigned="Vigil Reader $2"
		sed "s|\"@scopes@\"|\"$1\"|;s|\"Vigil Reader\"|\"$assigned\"|" "$folder/role.json" >"$folder/role-$2.json"
		[[ -z $(az role definition list --name "$assigned" --scope "$1" --query '[].name' --output tsv) ]] || verb=update
		run az role definition "$verb" --role-definition "@$folder/role-$2.json" --output none
	fi
	persist az role assignment create --assignee-object-id "$principal" --assignee-principal-type ServicePrincipal --role "$assigned" --scope "$1" --output none
}

link_account() {
	local id=${1,,} properties
	[[ -n $group ]] || give_role "/subscriptions/$id" "$id"
	properties=$(property subscriptionId "$id")
	if [[ $(az cloud show --query name --output tsv) == AzureUSGovernment ]]; then
		properties+=,$(property AccountType Government)
	fi
	save_account "$id" "$properties"
	link "$id" "$credential"
}

need az curl
take_options "$@"
if [[ -n $group && -z $accounts ]]; then
	accounts=$(az rest --method get --url "/providers/Microsoft.Management/managementGroups/$group/descendants?api-version=2020-05-01" \
		--query "value[?ends_with(type, '/subscriptions')].name" --output tsv | tr '\n' ' ')
fi
check_accounts
[[ -n $dry_run ]] || log_in
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch role.json "$folder/role.json"
fetch graph.txt "$folder/graph.txt"
make_application
[[ -z $directory ]] || ask_directory
make_credential
[[ -z $group ]] || give_role "/providers/Microsoft.Management/managementGroups/$group" "$group"
each link_account
