#!/usr/bin/env bash
# Gives Vigil at @url@ read access to Google Cloud projects.
#
# In the first project, or in the project of --home, the script creates a service account
# with a key that it sends directly to Vigil. In each project, it grants the service
# account a role that can read the configuration of resources, but not the data in them.
# Then it adds the projects and a credential to Vigil and links them. Run it again after an
# upgrade of Vigil: it updates the role if this version reads more, and changes nothing
# otherwise.
#
#   VIGIL_API_TOKEN=... bash link.sh [options] PROJECT...
#
# The user of this script needs, in each project: roles/iam.roleAdmin and
# resourcemanager.projects.setIamPolicy; in the one with the service account also
# roles/iam.serviceAccountAdmin, roles/iam.serviceAccountKeyAdmin and
# roles/serviceusage.serviceUsageAdmin; with --organization
# resourcemanager.organizations.setIamPolicy.
set -euo pipefail

provider=gcp
account_form='^[a-z0-9-]{6,30}$'
# @library@
# @linking@

name=vigil-reader
role=vigilReader
home=
organization=
renew=

usage() {
	say "usage: VIGIL_API_TOKEN=... bash link.sh [options] PROJECT...
  --file FILE        read projects from a file, one per line
  --home PROJECT     project of the service account; by default the first project
  --name NAME        name of the service account; by default $name
  --organization ID  let it list the projects of an organisation, for discovery,
                     and read the policies that projects inherit
  --renew            create a new key; old ones stay valid until they are removed
  --dry-run          print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--home) home=${2:?} ;;
	--name) name=${2:?} ;;
	--organization) organization=${2:?} ;;
	--renew)
		renew=1
		option_words=0
		;;
	*) return 1 ;;
	esac
}

# make_reader creates the service account, and enables the services that Vigil calls in the
# project of the service account: Google counts the calls against that project.
make_reader() {
	local services
	mapfile -t services <"$folder/services.txt"
	local i
	for ((i = 0; i < ${#services[@]}; i += 20)); do # one request enables at most 20
		run gcloud services enable "${services[@]:i:20}" --project="$home"
	done
	exists gcloud iam service-accounts describe "$reader" --project="$home" --format=none --quiet ||
		run gcloud iam service-accounts create "$name" --project="$home" --display-name='Vigil reads how resources are configured'
}

# make_credential creates a key and sends it to Vigil. The key is in a private file, which
# is deleted afterwards.
make_credential() {
	local key=KEY
	credential=
	[[ -n $dry_run ]] || credential=$(credential_with "$reader")
	if [[ -n $credential && -z $renew ]]; then
		return
	fi
	persist gcloud iam service-accounts keys create "$folder/key.json" --iam-account="$reader" --project="$home"
	[[ -n $dry_run ]] || key=$(base64 <"$folder/key.json" | tr -d '\n')
	credential=$(save_credential "$credential" "$(property ServiceAccountEmail "$reader"),$(property ServiceAccountKey "$key")")
	rm -f "$folder/key.json"
}

link_account() {
	local verb=create
	if exists gcloud iam roles describe "$role" --project="$1" --format=none --quiet; then
		verb=update
		if [[ $(gcloud iam roles describe "$role" --project="$1" --format='value(deleted)') == True ]]; then
			run gcloud iam roles undelete "$role" --project="$1" >/dev/null
		fi
	fi
	run gcloud iam roles "$verb" "$role" --project="$1" --file="$folder/role.yaml" --quiet >/dev/null
	persist gcloud projects add-iam-policy-binding "$1" --member="serviceAccount:$reader" --role="projects/$1/roles/$role" --condition=None >/dev/null
	save_account "$1" "$(property projectId "$1")"
	link "$1" "$credential"
}

need gcloud curl base64
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
home=${home:-${accounts%% *}}
reader="$name@$home.iam.gserviceaccount.com"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch role.yaml "$folder/role.yaml"
fetch services.txt "$folder/services.txt"
make_reader
if [[ -n $organization ]]; then
	# With these roles, in this order, Vigil reads what projects inherit: the hierarchy; the
	# policies, sinks and roles of folders and the organisation; deny policies.
	for parent_role in roles/browser roles/iam.securityReviewer roles/iam.denyReviewer; do
		persist gcloud organizations add-iam-policy-binding "$organization" --member="serviceAccount:$reader" --role="$parent_role" --condition=None >/dev/null
	done
fi
make_credential
each link_account
