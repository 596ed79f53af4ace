// Package aws implements the predicates of AWS, on the statements of IAM
// policies and on the rules of security groups and network ACLs.
//
// It evaluates policies as AWS does: everything that no statement allows is
// denied, and a Deny overrides an Allow. It compares statements as sets of
// principals, actions, resources and condition values, never by searching for
// names in the text.
package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Policy is an IAM policy of an identity or a resource.
type Policy struct {
	Statements []Statement
}

// A Statement of a policy. A member and its Not counterpart exclude each other;
// without both, the statement applies to everything.
type Statement struct {
	Allow      bool
	Principals Principals
	Actions    Patterns
	Resources  Patterns
	Conditions []Condition
}

// A Condition restricts the value of one key.
type Condition struct {
	Operator string
	Key      string // in lower case
	Values   []string
}

// Parse parses a policy, which IAM sends percent-encoded. It also returns the
// text as JSON, even when parsing fails. Syntax that AWS does not document is an
// error, because its meaning is unknown.
func Parse(text string) (p Policy, decoded string, err error) {
	if strings.HasPrefix(text, "%7B") || strings.HasPrefix(text, "%7b") {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
	}
	var document struct {
		Version   json.RawMessage
		ID        json.RawMessage `json:"Id"`
		Statement json.RawMessage
	}
	if err := strict(text, &document); err != nil {
		return p, text, fmt.Errorf("the policy is malformed: %w", err)
	}
	var statements []json.RawMessage
	switch first := strings.TrimLeft(string(document.Statement), " \t\r\n"); {
	case first == "" || first == "null": // AWS omits it in an empty policy
	case first[0] == '[':
		if err := json.Unmarshal(document.Statement, &statements); err != nil {
			return p, text, err
		}
	default:
		statements = []json.RawMessage{document.Statement}
	}
	for i, raw := range statements {
		s, err := parseStatement(string(raw))
		if err != nil {
			return Policy{}, text, fmt.Errorf("statement %d of the policy is malformed: %w", i+1, err)
		}
		p.Statements = append(p.Statements, s)
	}
	return p, text, nil
}

// strict decodes one JSON value and rejects unknown members.
func strict(text string, target any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one value")
	}
	return nil
}

func parseStatement(text string) (Statement, error) {
	var raw struct {
		Sid                     json.RawMessage
		Effect                  string
		Principal, NotPrincipal json.RawMessage
		Action, NotAction       *words
		Resource, NotResource   *words
		Condition               map[string]map[string]words
	}
	if err := strict(text, &raw); err != nil {
		return Statement{}, err
	}
	s := Statement{Allow: raw.Effect == "Allow"}
	if raw.Effect != "Allow" && raw.Effect != "Deny" {
		return s, fmt.Errorf("unknown effect %.30q", raw.Effect)
	}
	var err error
	if s.Principals, err = parsePrincipals(raw.Principal, raw.NotPrincipal); err != nil {
		return s, err
	}
	if s.Actions, err = newPatterns(raw.Action, raw.NotAction, strings.ToLower); err != nil {
		return s, err
	}
	if s.Resources, err = newPatterns(raw.Resource, raw.NotResource, strings.Clone); err != nil {
		return s, err
	}
	for operator, keys := range raw.Condition {
		for key, values := range keys {
			s.Conditions = append(s.Conditions, Condition{operator, strings.ToLower(key), values})
		}
	}
	slices.SortFunc(s.Conditions, func(a, b Condition) int {
		return strings.Compare(a.Operator+" "+a.Key, b.Operator+" "+b.Key)
	})
	return s, nil
}

// words is a string, number or boolean, or a list of them.
type words []string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *words) UnmarshalJSON(text []byte) error {
	texts := []json.RawMessage{text}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if err := json.Unmarshal(text, &texts); err != nil {
			return err
		}
	}
	*w = words{}
	for _, text := range texts {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		switch v := v.(type) {
		case string:
			*w = append(*w, v)
		case bool, float64:
			*w = append(*w, string(bytes.TrimSpace(text)))
		default:
			return fmt.Errorf("%.30s is not a string", text)
		}
	}
	return nil
}

// Principals are the principals of a statement. Each is written "*",
// "AWS:arn:aws:iam::1:root", "Service:ec2.amazonaws.com" or "Federated:…".
type Principals struct {
	Given  bool // false in the policies of identities
	Except bool // the statement applies to everybody except these
	Names  []string
}

func parsePrincipals(yes, not json.RawMessage) (p Principals, err error) {
	switch {
	case yes != nil && not != nil:
		return p, errors.New("Principal and NotPrincipal exclude each other")
	case yes == nil && not == nil:
		return p, nil
	case not != nil:
		p.Except, yes = true, not
	}
	p.Given = true
	var byKind map[string]words
	if json.Unmarshal(yes, &byKind) != nil {
		var all words
		if err := json.Unmarshal(yes, &all); err != nil {
			return p, fmt.Errorf("principal: %w", err)
		}
		byKind = map[string]words{"AWS": all}
	}
	for kind, values := range byKind {
		if !slices.Contains(principalKinds, kind) {
			return p, fmt.Errorf("unknown kind of principal %.30q", kind)
		}
		for _, v := range values {
			p.Names = append(p.Names, principal(kind, v))
		}
	}
	slices.Sort(p.Names)
	p.Names = slices.Compact(p.Names)
	return p, nil
}

var principalKinds = []string{"AWS", "Service", "Federated", "CanonicalUser", "*"}

// principal normalises a principal: an account can be written in two ways.
func principal(kind, value string) string {
	switch {
	case value == "*" && kind != "Service":
		return "*"
	case kind == "AWS" && isAccount(value):
		return "AWS:arn:aws:iam::" + value + ":root"
	}
	return kind + ":" + value
}

// isAccount reports whether a text is an account id.
func isAccount(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}

// everybody reports whether the statement applies to strangers too.
func (p Principals) everybody() bool {
	return slices.Contains(p.Names, "*") != p.Except
}

// Allowed returns the sorted distinct principals of Allow statements. It ignores Deny statements.
func (p Policy) Allowed() []string {
	var all []string
	for _, s := range p.Statements {
		switch {
		case !s.Allow:
		case s.Principals.Except:
			all = append(all, "*")
		default:
			all = append(all, s.Principals.Names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
