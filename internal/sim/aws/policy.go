package aws

import (
	"bytes"
	"encoding/json"
	"strings"

	"vigil/internal/sim/world"
)

// policy returns an IAM policy document.
func policy(statements ...world.Object) string {
	var b bytes.Buffer
	writeJSON(&b, world.Obj("Version", "2012-10-17", "Statement", world.Items(statements...)))
	return b.String()
}

// allow returns a statement. The principal is "*", "", or type and value
// separated by a colon.
func allow(principal, action, resource string) world.Object {
	o := world.Obj("Effect", "Allow")
	if principal == "*" {
		o = append(o, world.Obj("Principal", "*")...)
	} else if kind, value, ok := strings.Cut(principal, ":"); ok {
		o = append(o, world.Obj("Principal", world.Obj(kind, value))...)
	}
	o = append(o, world.Obj("Action", action)...)
	if resource != "" {
		o = append(o, world.Obj("Resource", resource)...)
	}
	return o
}

// withCondition adds a condition to a statement.
func withCondition(statement world.Object, operator, key, value string) world.Object {
	return statement.With("Condition", world.Obj(operator, world.Obj(key, value)))
}

// tlsOnly returns a statement that denies unencrypted calls to a bucket and its
// objects.
func tlsOnly(bucket string) world.Object {
	deny := world.Obj("Effect", "Deny", "Principal", "*", "Action", "s3:*", "Resource", world.Items(bucket, bucket+"/*"))
	return withCondition(deny, "Bool", "aws:SecureTransport", "false")
}

// allowsAnyone reports whether a generated policy allows everybody something
// without a condition.
func allowsAnyone(text string) bool {
	for _, s := range statementsOf(text) {
		if s.Text("Effect") == "Allow" && (s.Text("Principal") == "*" || s.Text("Principal", "AWS") == "*") && s.Get("Condition") == nil {
			return true
		}
	}
	return false
}

// allowsEverything reports whether a generated policy allows all actions on
// all resources.
func allowsEverything(text string) bool {
	for _, s := range statementsOf(text) {
		if s.Text("Effect") == "Allow" && s.Text("Action") == "*" && s.Text("Resource") == "*" {
			return true
		}
	}
	return false
}

// deniesPlaintext reports whether a generated policy denies unencrypted calls
// with any action, to the bucket and to its objects.
func deniesPlaintext(text string) bool {
	for _, s := range statementsOf(text) {
		wholeBucket := s.Text("Action") == "s3:*" && len(s.List("Resource")) == 2
		if wholeBucket && s.Text("Effect") == "Deny" && s.Text("Condition", "Bool", "aws:SecureTransport") == "false" {
			return true
		}
	}
	return false
}

func statementsOf(text string) []world.Object {
	var o world.Object
	if json.Unmarshal([]byte(text), &o) != nil {
		return nil
	}
	return o.Objects("Statement")
}
