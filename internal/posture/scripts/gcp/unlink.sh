#!/usr/bin/env bash
# Revokes the read access of Vigil at @url@ to Google Cloud projects: removes the links
# and roles that link.sh created and, with the last link, the credential and the service
# account. The projects stay in Vigil as drafts. Running it again is safe.
#
#   VIGIL_API_TOKEN=... bash unlink.sh [options] PROJECT...
#
# The user of this script needs, in each project: roles/iam.roleAdmin and
# resourcemanager.projects.setIamPolicy; in the one with the service account also
# roles/iam.serviceAccountAdmin.
set -euo pipefail

provider=gcp
account_form='^[a-z0-9-]{6,30}$'
# @library@
# @linking@

name=vigil-reader
role=vigilReader
home=
organization=

usage() {
	say "usage: VIGIL_API_TOKEN=... bash unlink.sh [options] PROJECT...
  --file FILE        read projects from a file, one per line
  --home PROJECT     project of the service account; by default the first project
  --name NAME        name of the service account; by default $name
  --organization ID  also remove its roles on an organisation
  --dry-run          print what would be done, without changing anything"
}

option_words=0
option() {
	option_words=1
	case $1 in
	--home) home=${2:?} ;;
	--name) name=${2:?} ;;
	--organization) organization=${2:?} ;;
	*) return 1 ;;
	esac
}

unlink_account() {
	unlink "$1" "$credential"
	drop gcloud projects remove-iam-policy-binding "$1" --member="serviceAccount:$reader" --role="projects/$1/roles/$role" --condition=None
	drop gcloud iam roles delete "$role" --project="$1" --quiet
}

need gcloud curl
take_options "$@"
check_accounts
[[ -n $dry_run ]] || log_in
home=${home:-${accounts%% *}}
reader="$name@$home.iam.gserviceaccount.com"
credential=
[[ -n $dry_run ]] || credential=$(credential_with "$reader")
each unlink_account
if [[ -n $organization ]]; then
	for parent_role in roles/browser roles/iam.securityReviewer roles/iam.denyReviewer; do
		drop gcloud organizations remove-iam-policy-binding "$organization" --member="serviceAccount:$reader" --role="$parent_role" --condition=None
	done
fi
if forget_credential "$credential"; then
	drop gcloud iam service-accounts delete "$reader" --project="$home" --quiet
else
	say "other projects are still linked: keeping the service account"
fi
