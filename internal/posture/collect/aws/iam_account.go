package aws

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var accountSummary = single(declaration{
	Type: accountSummaryType, Scope: collect.PerAccount, Service: "iam", Doc: "The account's own identity, its root user, and how much IAM holds.",
	Permissions: []string{"iam:GetAccountSummary", "iam:ListVirtualMFADevices", "iam:GenerateCredentialReport", "iam:GetCredentialReport"},
	Properties: properties{
		long("accountMfaEnabled", "1 when the root user has a second factor, else 0."),
		long("accountAccessKeysPresent", "1 when the root user has an access key, else 0."),
		flag("rootMfaIsVirtual", "The root user's second factor is a program, not a device."),
		text("rootPasswordLastUsed", "When the root user last logged in; absent when it never did."),
		text("rootKeyLastUsed", "When an access key of the root user was last used; absent when none was."),
		long("users", "How many users there are."),
		long("groups", "How many groups there are."),
		long("roles", "How many roles there are."),
		long("policies", "How many customer managed policies there are."),
	},
	Events: events{
		on("iam", "EnableMFADevice", "DeactivateMFADevice", "CreateAccessKey", "DeleteAccessKey"),
		on("signin", "ConsoleLogin"),
	},
}, func(ctx context.Context, s *scope) (*resource, error) {
	client := iam.NewFromConfig(s.config)
	r := s.resource(accountSummaryType, string(s.account))
	r.XID = s.arn("iam", "root")
	counts := []string{"accountMfaEnabled", "accountAccessKeysPresent", "users", "groups", "roles", "policies"}
	out, err := client.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})
	if err = plain(err); err != nil {
		if collect.Over(err) {
			return nil, err
		}
		unknown(r, err, counts...)
	} else {
		for i, name := range []string{"AccountMFAEnabled", "AccountAccessKeysPresent", "Users", "Groups", "Roles", "Policies"} {
			r.Number(counts[i], int64(out.SummaryMap[name]))
		}
	}
	return r, errors.Join(err, rootMFA(ctx, client, r), s.rootUse(ctx, r))
})

// rootMFA tells whether the root user's second factor is a virtual one.
func rootMFA(ctx context.Context, client *iam.Client, r *resource) error {
	return detail(r, []string{"rootMfaIsVirtual"}, func() error {
		virtual := false
		in := &iam.ListVirtualMFADevicesInput{AssignmentStatus: types.AssignmentStatusTypeAssigned}
		err := each(ctx, iam.NewListVirtualMFADevicesPaginator(client, in), func(out *iam.ListVirtualMFADevicesOutput) error {
			for _, d := range out.VirtualMFADevices {
				virtual = virtual || strings.HasSuffix(aws.ToString(d.SerialNumber), ":mfa/root-account-mfa-device")
			}
			return nil
		})
		if err == nil {
			r.Flag("rootMfaIsVirtual", virtual)
		}
		return err
	})
}

// rootUse tells when the root user was last at work.
func (s *scope) rootUse(ctx context.Context, r *resource) error {
	return detail(r, []string{"rootPasswordLastUsed", "rootKeyLastUsed"}, func() error {
		lines, err := s.report.read(ctx, s)
		if err != nil {
			return err
		}
		root := lines[rootUser]
		r.Text("rootPasswordLastUsed", root.moment("password_last_used"))
		r.Text("rootKeyLastUsed", max(root.moment("access_key_1_last_used_date"), root.moment("access_key_2_last_used_date")))
		return nil
	})
}

// unknown adds properties that could not be read without counting each as a
// problem: the collector fails with the reason anyway.
func unknown(r *resource, err error, names ...string) {
	for _, name := range names {
		r.Properties = append(r.Properties, posture.Unknown(name, err.Error()))
	}
}

var passwordPolicy = single(declaration{
	Type: passwordPolicyType, Scope: collect.PerAccount, Service: "iam", Doc: "What the passwords of users must be like.",
	Permissions: []string{"iam:GetAccountPasswordPolicy"},
	Properties: properties{
		flag("exists", "There is one; without, AWS wants eight characters and no more."),
		long("minimumPasswordLength", "How many characters a password has at least."),
		long("passwordReusePrevention", "How many earlier passwords may not be used again; absent when any may."),
		long("maxPasswordAge", "After how many days a password ends; absent when it does not."),
		flag("requireSymbols", "A password has one of !@#$%^&*."),
		flag("requireNumbers", "A password has a digit."),
		flag("requireUppercaseCharacters", "A password has an upper-case letter."),
		flag("requireLowercaseCharacters", "A password has a lower-case letter."),
		flag("allowUsersToChangePassword", "Users may change their own password."),
		flag("hardExpiry", "Whose password has ended cannot set a new one."),
	},
	Events: events{on("iam", "UpdateAccountPasswordPolicy", "DeleteAccountPasswordPolicy")},
}, func(ctx context.Context, s *scope) (*resource, error) {
	r := s.resource(passwordPolicyType, string(s.account))
	r.XID = s.arn("iam", "password-policy")
	out, err := iam.NewFromConfig(s.config).GetAccountPasswordPolicy(ctx, &iam.GetAccountPasswordPolicyInput{})
	switch err = plain(err); {
	case errors.Is(err, collect.ErrGone):
		return r.Flag("exists", false), nil
	case collect.Over(err):
		return nil, err
	case err != nil:
		unknown(r, err, "exists", "minimumPasswordLength", "passwordReusePrevention", "maxPasswordAge", "requireSymbols", "requireNumbers",
			"requireUppercaseCharacters", "requireLowercaseCharacters", "allowUsersToChangePassword", "hardExpiry")
		return r, err
	}
	p := out.PasswordPolicy
	r.Flag("exists", true).Flag("requireSymbols", p.RequireSymbols).Flag("requireNumbers", p.RequireNumbers).
		Flag("requireUppercaseCharacters", p.RequireUppercaseCharacters).Flag("requireLowercaseCharacters", p.RequireLowercaseCharacters).
		Flag("allowUsersToChangePassword", p.AllowUsersToChangePassword).Flag("hardExpiry", aws.ToBool(p.HardExpiry))
	number(r, "minimumPasswordLength", p.MinimumPasswordLength)
	number(r, "passwordReusePrevention", p.PasswordReusePrevention)
	return number(r, "maxPasswordAge", p.MaxPasswordAge), nil
})
