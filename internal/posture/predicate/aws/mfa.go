package aws

import "vigil/internal/posture/predicate"

// Root is the name of the root user in the credential report.
const Root = "<root_account>"

// A SignIn is a line of the credential report.
type SignIn struct {
	User     string `yaml:"user"`
	Password string `yaml:"password"` // password_enabled: true, false, not_supported, no_information
	MFA      string `yaml:"mfa"`      // mfa_active: true, false
}

// MFAForAll decides whether every console user needs a second factor: each user
// with a password, and the root user unless the account has no root credentials.
// rootPassword says whether the root user has a password, which an organisation
// can remove.
func MFAForAll(report []SignIn, rootPassword predicate.Truth) predicate.Answer {
	if len(report) == 0 {
		return predicate.NotKnown("there is no credential report")
	}
	var all []predicate.Answer
	root := false
	for _, line := range report {
		password := flag(line.Password)
		if line.User == Root {
			root, password = true, rootPassword
		}
		protected := predicate.Or(predicate.Not(predicate.Answer{Truth: password}), predicate.Answer{Truth: flag(line.MFA)})
		switch protected.Truth {
		case predicate.No:
			protected.Why = line.User + " signs in with a password alone"
		case predicate.Unknown:
			protected.Why = "the sign-in settings of " + line.User + " are unknown"
		}
		all = append(all, protected)
	}
	if !root && rootPassword != predicate.No {
		all = append(all, predicate.NotKnown("the report does not contain the root user"))
	}
	return predicate.And(all...)
}

// flag parses a column of the report.
func flag(text string) predicate.Truth {
	switch text {
	case "true", "TRUE":
		return predicate.Yes
	case "false", "FALSE":
		return predicate.No
	}
	return predicate.Unknown
}
