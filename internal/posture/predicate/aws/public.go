package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// Public decides whether a resource policy, or the trust policy of a role,
// allows something to strangers: callers that its owner did not choose.
//
// That is so when a statement allows an outside principal that meets its
// conditions, ignoring conditions whose values the owner does not control, and
// no Deny removes that permission.
func (p Policy) Public() predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if s.Allow {
			all = append(all, predicate.And(s.admitsStrangers(), p.notDenied(s)))
		}
	}
	return predicate.Or(all...)
}

// admitsStrangers decides whether a stranger is among the principals of a
// statement and can meet its conditions.
func (s Statement) admitsStrangers() predicate.Answer {
	if !s.Principals.Given {
		return predicate.Of(false, "")
	}
	if s.Principals.everybody() {
		return predicate.And(predicate.Of(true, "it allows everybody"), s.meets())
	}
	if s.Principals.Except {
		return predicate.Of(false, "")
	}
	var all []predicate.Answer
	for _, member := range s.Principals.Names {
		kind, name, _ := strings.Cut(member, ":")
		switch {
		case kind == "Federated":
			all = append(all, predicate.And(s.admitsAnyUserOf(name), s.meets()))
		case kind == "AWS" && strings.ContainsAny(name, "*?"), kind == "Service" && name == "*":
			all = append(all, predicate.NotKnown("AWS does not accept wildcards within principals such as "+member))
		case kind == "Service" && name == "s3.amazonaws.com" && slices.ContainsFunc(s.Actions.List, func(a string) bool { return strings.HasPrefix(a, "lambda:") }):
			// The ARN of a bucket has no account: without a condition on the account, a bucket of any account can call the function.
			all = append(all, predicate.And(predicate.Of(true, "buckets of every account can call it"), s.meets()))
		}
	}
	return predicate.Or(all...)
}

// meets decides whether a stranger can meet all conditions of a statement.
func (s Statement) meets() predicate.Answer {
	var all []predicate.Answer
	for _, c := range s.Conditions {
		all = append(all, c.admits())
	}
	return predicate.And(all...)
}

// sharedProviders are the identity providers with which anybody can register,
// with the claims that distinguish the owner's identities.
var sharedProviders = map[string][]string{
	"accounts.google.com": {"aud", "azp", "oaud", "sub"}, "graph.facebook.com": {"app_id", "id"}, "www.amazon.com": {"app_id", "user_id"},
	"cognito-identity.amazonaws.com": {"aud", "sub"}, "token.actions.githubusercontent.com": {"sub", "repository", "repository_id", "repository_owner", "repository_owner_id", "job_workflow_ref"},
	"gitlab.com":        {"sub", "project_path", "project_id", "namespace_path", "namespace_id"},
	"app.terraform.io":  {"sub", "terraform_organization_id", "terraform_organization_name", "terraform_project_id", "terraform_workspace_id"},
	"oidc.circleci.com": {"sub", "aud"}, "agent.buildkite.com": {"sub"},
}

// admitsAnyUserOf decides whether an arbitrary user of an identity provider can
// meet the conditions of a statement.
func (s Statement) admitsAnyUserOf(provider string) predicate.Answer {
	if _, name, ok := strings.Cut(provider, ":oidc-provider/"); ok {
		provider = name
	}
	claims, shared := sharedProviders[strings.ToLower(provider)]
	if !shared {
		return predicate.Of(false, "") // a private provider authenticates only the owner's users
	}
	for _, c := range s.Conditions {
		claim, ok := strings.CutPrefix(c.Key, strings.ToLower(provider)+":")
		t := c.test()
		// Every token has a subject, so IfExists and ForAllValues have no effect on it.
		skipped := claim != "sub" && (t.ifExists || t.forAll)
		if !ok || !slices.Contains(claims, claim) || t.negated || skipped || len(c.Values) == 0 {
			continue
		}
		if t.kind == unknownTest {
			return predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
		}
		isOpen := openClaim
		if namedIssuers[strings.ToLower(provider)] == gitHub && claim == "sub" {
			isOpen = openGitHubSubject
		}
		if (t.kind == exactTest || t.kind == likeTest) && !slices.ContainsFunc(c.Values, func(v string) bool { return isOpen(expand(v), t.kind == likeTest) }) {
			return predicate.Of(false, "")
		}
	}
	return predicate.Of(true, "anybody can be a user of "+provider)
}

// openClaim reports whether users of other owners can match a claim of a token.
// The first part of a subject names the owner: project_path:acme/site:*.
func openClaim(value string, pattern bool) bool {
	for _, prefix := range []string{"organization:", "project_path:"} {
		value = strings.TrimPrefix(value, prefix)
	}
	owner, _, _ := strings.Cut(value, "/")
	owner, _, _ = strings.Cut(owner, ":")
	return owner == "" || open(owner, pattern)
}

// openGitHubSubject is openClaim for subjects of GitHub. Every organisation chooses of which
// claims its subjects consist. Only claims that name the owner keep others out.
func openGitHubSubject(subject string, pattern bool) bool {
	labels := append([]string{"repository_owner", "repository_id", "repository_owner_id", "job_workflow_ref"}, repositoryLabels...)
	return !slices.ContainsFunc(labels, func(label string) bool {
		owner, _, _ := strings.Cut(labelled(subject, label), "/")
		return owner != "" && !open(owner, pattern)
	})
}

// notDenied decides whether Deny statements leave strangers a part of what a statement allows.
func (p Policy) notDenied(allow Statement) predicate.Answer {
	var all []predicate.Answer
	for _, actions := range allow.Actions.pieces() {
		for _, resources := range allow.Resources.pieces() {
			all = append(all, predicate.Not(p.deniesStrangers(actions, resources)))
		}
	}
	return predicate.Or(all...)
}

// deniesStrangers decides whether a Deny denies every stranger the actions on the resources.
func (p Policy) deniesStrangers(actions, resources Patterns) predicate.Answer {
	var all []predicate.Answer
	for _, d := range p.Statements {
		if d.Allow || !d.Principals.everybody() || !d.Actions.contains(actions) || !d.Resources.contains(resources) {
			continue
		}
		var met []predicate.Answer
		for _, c := range d.Conditions {
			met = append(met, c.refuses())
		}
		all = append(all, predicate.And(met...))
	}
	return predicate.Or(all...)
}
