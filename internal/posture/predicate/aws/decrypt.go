package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// DecryptsAll decides whether an identity may decrypt with every KMS key: a statement allows
// kms:Decrypt or kms:ReEncryptFrom on every resource, or on the keys of all accounts and
// regions, and neither a Deny nor the boundary prevents it. Conditions of the statement do
// not count: KMS.1 and KMS.2 of AWS Security Hub look at its resources alone.
func (i Identity) DecryptsAll() predicate.Answer {
	return i.complete(i.allowsIf(Statement.onAllKeys, []string{"kms:decrypt", "kms:reencryptfrom"}, func(Statement) predicate.Answer {
		return predicate.Of(true, "a statement allows it on every key")
	}))
}

// onAllKeys reports whether a statement covers every KMS key. A statement with NotResource
// counts, because it covers all keys except some.
func (s Statement) onAllKeys() bool {
	return s.onEverything() || !s.Resources.Except && slices.ContainsFunc(s.Resources.List, func(p string) bool {
		field := strings.SplitN(p, ":", 6)
		return len(field) == 6 && covers(field[2], "kms") && covers(field[3], "*") && covers(field[4], "*") && covers(field[5], "key/*")
	})
}

// WholeServices returns the services of which Allow statements allow all actions, sorted and
// distinct: those of actions such as "s3:*". It returns "*" for a statement that allows the
// actions of all services. It ignores resources, conditions and Deny statements.
func (p Policy) WholeServices() []string {
	var all []string
	for _, s := range p.Statements {
		if !s.Allow || s.Actions.Except {
			continue
		}
		for _, action := range s.Actions.List {
			if service, rest, ok := strings.Cut(action, ":"); ok && rest != "" && strings.Trim(rest, "*") == "" {
				all = append(all, service)
			} else if strings.Trim(action, "*") == "" {
				all = append(all, "*")
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
