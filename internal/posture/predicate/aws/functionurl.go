package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// urlCall holds the condition keys, in lower case, that distinguish calls by a function URL
// without authentication from other calls, and the values of these keys in such a call.
var urlCall = map[string]string{"lambda:functionurlauthtype": "NONE", "lambda:invokedviafunctionurl": "true"}

// PublicURL decides whether the resource policy of a Lambda function lets everybody call the
// function by a URL without authentication. Such a call needs permission for both
// lambda:InvokeFunctionUrl and lambda:InvokeFunction.
func (p Policy) PublicURL() predicate.Answer {
	return predicate.And(p.allowsURLCall("lambda:invokefunctionurl"), p.allowsURLCall("lambda:invokefunction"))
}

// allowsURLCall decides whether the policy allows everybody an action, given in lower case, in
// a call by a function URL without authentication.
func (p Policy) allowsURLCall(action string) predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if !s.Allow || !s.Principals.Given || !s.Principals.everybody() || !s.Actions.has(action) {
			continue
		}
		s.Actions = Patterns{List: []string{action}} // whether other actions of the statement are denied does not matter
		met := []predicate.Answer{predicate.Of(true, "it allows everybody"), p.notDenied(s)}
		for _, c := range s.Conditions {
			met = append(met, c.admitsURLCall())
		}
		all = append(all, predicate.And(met...))
	}
	return predicate.Or(all...)
}

// admitsURLCall decides whether a stranger's call by a function URL without authentication can
// meet a condition.
func (c Condition) admitsURLCall() predicate.Answer {
	actual, ok := urlCall[c.Key]
	t := c.test()
	if !ok || t.kind != exactTest && t.kind != likeTest && t.kind != boolTest {
		return c.admits()
	}
	named := slices.ContainsFunc(c.Values, func(v string) bool {
		return strings.EqualFold(v, actual) || t.kind == likeTest && covers(strings.ToLower(v), strings.ToLower(actual))
	})
	return predicate.Of(named != t.negated, "")
}
