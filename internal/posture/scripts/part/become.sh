# become ACCOUNT assumes a role in an account that is not the caller's own.
become() {
	[[ $1 != "$own" ]] || return 0
	local key secret session
	read -r key secret session < <(aws sts assume-role --role-arn "arn:${partition}:iam::$1:role/$role" \
		--role-session-name vigil --query 'Credentials.[AccessKeyId,SecretAccessKey,SessionToken]' --output text)
	export AWS_ACCESS_KEY_ID=$key AWS_SECRET_ACCESS_KEY=$secret AWS_SESSION_TOKEN=$session
}

# find_self determines the caller's account and the AWS partition.
find_self() {
	local arn
	read -r own arn < <(aws sts get-caller-identity --query '[Account,Arn]' --output text) || die "the AWS command line has no credentials"
	partition=$(cut -d: -f2 <<<"$arn")
}

role=OrganizationAccountAccessRole
own=
partition=
