package aws

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// A document is an IAM policy, of an identity or a resource.
type document struct {
	Statement statements
}

type statement struct {
	Effect       string
	Principal    principals
	NotPrincipal principals
	Action       words
	NotAction    words
	Resource     words
	NotResource  words
	Condition    map[string]map[string]words
}

// parseDocument reads a policy. IAM sends them percent-encoded. It returns the
// text as JSON and false when it is not one.
func parseDocument(text string) (d document, plain string, ok bool) {
	if strings.HasPrefix(text, "%7B") || strings.HasPrefix(text, "%7b") {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
	}
	return d, text, json.Unmarshal([]byte(text), &d) == nil
}

// public reports whether anybody may do something.
func (d document) public() bool {
	return slices.ContainsFunc(d.Statement, func(s statement) bool {
		return s.allows() && slices.Contains(s.Principal, "*") && !s.restricted()
	})
}

// admin reports whether everything may be done to everything.
func (d document) admin() bool {
	return slices.ContainsFunc(d.Statement, func(s statement) bool {
		return s.allows() && (slices.Contains(s.Action, "*") || slices.Contains(s.Action, "*:*")) && slices.Contains(s.Resource, "*")
	})
}

// tlsOnly reports whether calls that are not encrypted are refused.
func (d document) tlsOnly() bool {
	return slices.ContainsFunc(d.Statement, func(s statement) bool {
		return s.Effect == "Deny" && slices.Contains(s.Principal, "*") && slices.ContainsFunc(s.insecure(), func(v string) bool { return strings.EqualFold(v, "false") })
	})
}

// insecure returns what a statement demands of aws:SecureTransport.
func (s statement) insecure() words {
	for name, values := range s.Condition["Bool"] {
		if strings.EqualFold(name, "aws:SecureTransport") {
			return values
		}
	}
	return nil
}

// principals returns whom the policy allows something, each once, in order.
func (d document) principals() []string {
	var all []string
	for _, s := range d.Statement {
		if s.allows() {
			all = append(all, s.Principal...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s statement) allows() bool { return s.Effect == "Allow" }

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
func (s statement) restricted() bool {
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

// statements is a statement or a list of them.
type statements []statement

// UnmarshalJSON implements [json.Unmarshaler].
func (s *statements) UnmarshalJSON(text []byte) error {
	var many []statement
	if err := json.Unmarshal(text, &many); err == nil {
		*s = many
		return nil
	}
	var one statement
	err := json.Unmarshal(text, &one)
	*s = statements{one}
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

// policyFacts adds a resource policy: its text, and what rules ask of it.
func policyFacts(r *resource, text string) document {
	d, plain, ok := parseDocument(text)
	r.Text("policy", plain)
	if ok {
		r.Flag("policyIsPublic", d.public())
		r.Texts("policyPrincipals", d.principals()...)
	}
	return d
}

// policyProperties declares what policyFacts adds.
var policyProperties = properties{
	text("policy", "Its resource policy as JSON; absent when it has none."),
	flag("policyIsPublic", "The policy allows anybody something, without a condition that tells callers apart."),
	texts("policyPrincipals", "Whom the policy allows something."),
}

// policyNames are the names of those properties.
var policyNames = []string{"policy", "policyIsPublic", "policyPrincipals"}
