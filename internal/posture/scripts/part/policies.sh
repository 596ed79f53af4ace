# save_policy ARN FILE creates a managed policy with the document in the file. If the
# policy exists with another document, it gets a new version. IAM keeps at most five versions
# of a policy, the default and four old ones, so the oldest one is deleted first.
save_policy() {
	local version document old
	if ! exists aws iam get-policy --policy-arn "$1"; then
		run aws iam create-policy --policy-name "${1##*/}" --description 'Vigil reads how resources are configured' \
			--policy-document "file://$2" --tags Key=created-by,Value=vigil >/dev/null
		return
	fi
	version=$(aws iam get-policy --policy-arn "$1" --query Policy.DefaultVersionId --output text)
	document=$(aws iam get-policy-version --policy-arn "$1" --version-id "$version" --query PolicyVersion.Document --output json)
	if [[ $(tr -d '[:space:]' <<<"$document") == "$(tr -d '[:space:]' <"$2")" ]]; then
		return
	fi
	mapfile -t old < <(old_versions "$1")
	if [[ ${#old[@]} -ge 4 ]]; then
		run aws iam delete-policy-version --policy-arn "$1" --version-id "${old[0]}"
	fi
	run aws iam create-policy-version --policy-arn "$1" --policy-document "file://$2" --set-as-default >/dev/null
}

# old_versions ARN prints the versions of a policy that are not the default, the oldest
# first.
old_versions() {
	aws iam list-policy-versions --policy-arn "$1" --query 'Versions[?!IsDefaultVersion].VersionId' --output text | tr '\t' '\n' | grep '^v' | sort -V
}

# remove_policies COUNT keeps the policies 1 to COUNT of the role and removes the others.
remove_policies() {
	local arn arns number version
	arns=$(aws iam list-policies --scope Local --query "Policies[?starts_with(PolicyName,'$name-')].Arn" --output text)
	for arn in $arns; do
		number=${arn#*:policy/"$name"-}
		[[ $number =~ ^[0-9]+$ && $number -gt $1 ]] || continue
		drop aws iam detach-role-policy --role-name "$name" --policy-arn "$arn"
		for version in $(old_versions "$arn"); do
			drop aws iam delete-policy-version --policy-arn "$arn" --version-id "$version"
		done
		drop aws iam delete-policy --policy-arn "$arn"
	done
}
