// Package iampolicy reads AWS IAM policies, of identities and of resources, and
// answers what rules ask of them.
package iampolicy

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// A Document is an IAM policy, of an identity or a resource.
type Document struct {
	Statement Statements
}

// A Statement of a policy.
type Statement struct {
	Effect       string
	Principal    principals
	NotPrincipal principals
	Action       words
	NotAction    words
	Resource     words
	NotResource  words
	Condition    map[string]map[string]words
}

// Parse reads a policy. IAM sends them percent-encoded. It returns the
// text as JSON and false when it is not one.
func Parse(text string) (d Document, plain string, ok bool) {
	if strings.HasPrefix(text, "%7B") || strings.HasPrefix(text, "%7b") {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
	}
	return d, text, json.Unmarshal([]byte(text), &d) == nil
}

// Public reports whether anybody may do something.
func (d Document) Public() bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool {
		return s.allows() && slices.Contains(s.Principal, "*") && !s.restricted()
	})
}

// Admin reports whether everything may be done to everything.
func (d Document) Admin() bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool {
		return s.allows() && (slices.Contains(s.Action, "*") || slices.Contains(s.Action, "*:*")) && slices.Contains(s.Resource, "*")
	})
}

// TLSOnly reports whether calls that are not encrypted are refused.
func (d Document) TLSOnly() bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool {
		return s.Effect == "Deny" && slices.Contains(s.Principal, "*") && slices.ContainsFunc(s.insecure(), func(v string) bool { return strings.EqualFold(v, "false") })
	})
}

// insecure returns what a statement demands of aws:SecureTransport.
func (s Statement) insecure() words {
	for name, values := range s.Condition["Bool"] {
		if strings.EqualFold(name, "aws:SecureTransport") {
			return values
		}
	}
	return nil
}

// Principals returns whom the policy allows something, each once, in order.
func (d Document) Principals() []string {
	var all []string
	for _, s := range d.Statement {
		if s.allows() {
			all = append(all, s.Principal...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Trusted returns the principals that a trust policy lets in, and whether only
// under a condition.
func (d Document) Trusted() map[string]bool {
	all := map[string]bool{}
	for _, st := range d.Statement {
		if !st.allows() {
			continue
		}
		for _, who := range st.Principal {
			free, seen := all[who]
			all[who] = st.restricted() && (!seen || free)
		}
	}
	return all
}

func (s Statement) allows() bool { return s.Effect == "Allow" }

// restrictingKeys are the condition keys that tell callers apart.
var restrictingKeys = []string{
	"aws:sourcearn", "aws:sourceaccount", "aws:sourceowner", "aws:sourcevpc", "aws:sourcevpce", "aws:sourceip", "aws:vpcsourceip",
	"aws:sourceorgid", "aws:sourceorgpaths", "aws:principalorgid", "aws:principalorgpaths", "aws:principalarn", "aws:principalaccount",
	"aws:userid", "aws:username", "kms:calleraccount", "sts:externalid", "s3:dataaccesspointaccount", "s3:dataaccesspointarn",
	"sns:endpoint", "lambda:eventsourcetoken",
}

// restricted reports whether a statement's conditions let only certain callers
// through. A condition that anybody meets, or that holds when its key is absent,
// does not.
func (s Statement) restricted() bool {
	for operator, keys := range s.Condition {
		if strings.Contains(operator, "Not") || strings.HasSuffix(operator, "IfExists") || strings.HasPrefix(operator, "ForAllValues:") {
			continue
		}
		for key, values := range keys {
			if slices.Contains(restrictingKeys, strings.ToLower(key)) && len(values) > 0 && !slices.ContainsFunc(values, anybody) {
				return true
			}
		}
	}
	return false
}

// anybody reports whether a condition's value is met by everyone.
func anybody(value string) bool {
	return value == "" || strings.Trim(value, "*") == "" || value == "0.0.0.0/0" || value == "::/0" || value == "arn:aws:*"
}

// words is a string or a list of them.
type words []string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *words) UnmarshalJSON(text []byte) error {
	var many []any
	if json.Unmarshal(text, &many) != nil {
		var one any
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
		many = []any{one}
	}
	*w = nil
	for _, v := range many {
		switch v := v.(type) {
		case string:
			*w = append(*w, v)
		case bool:
			*w = append(*w, map[bool]string{true: "true", false: "false"}[v])
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				return err
			}
			*w = append(*w, string(raw))
		}
	}
	return nil
}

// Statements is a statement or a list of them.
type Statements []Statement

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Statements) UnmarshalJSON(text []byte) error {
	var many []Statement
	if err := json.Unmarshal(text, &many); err == nil {
		*s = many
		return nil
	}
	var one Statement
	err := json.Unmarshal(text, &one)
	*s = Statements{one}
	return err
}

// principals are written "*", "AWS:arn:aws:iam::1:root", "Service:ec2.amazonaws.com"
// or "Federated:…".
type principals []string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *principals) UnmarshalJSON(text []byte) error {
	var byKind map[string]words
	if json.Unmarshal(text, &byKind) != nil {
		var all words
		err := all.UnmarshalJSON(text)
		*p = principals(all)
		return err
	}
	*p = nil
	for kind, values := range byKind {
		for _, v := range values {
			*p = append(*p, principal(kind, v))
		}
	}
	slices.Sort(*p)
	return nil
}

// principal spells one principal: an account may be written in two ways.
func principal(kind, value string) string {
	switch {
	case value == "*" && (kind == "AWS" || kind == "*"):
		return "*"
	case kind == "AWS" && len(value) == 12 && strings.Trim(value, "0123456789") == "":
		return "AWS:arn:aws:iam::" + value + ":root"
	}
	return kind + ":" + value
}
