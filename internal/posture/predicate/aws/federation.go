package aws

import (
	"slices"
	"strings"
)

// The kinds of OIDC issuers that WideFederations distinguishes.
const (
	gitHub      = "github"
	gitLab      = "gitlab"
	terraform   = "terraform"
	kubernetes  = "kubernetes"
	otherIssuer = "other"
)

// namedIssuers are the issuers whose subjects have a known form, by the host and path of
// their URLs.
var namedIssuers = map[string]string{"token.actions.githubusercontent.com": gitHub, "gitlab.com": gitLab, "app.terraform.io": terraform}

// consumerIssuers authenticate people and devices. Their tokens are limited by the
// audience, which is the application, not by the subject.
var consumerIssuers = []string{"cognito-identity.amazonaws.com", "accounts.google.com", "graph.facebook.com", "www.amazon.com"}

// WideFederations returns the sorted kinds of OIDC issuers for which a trust policy
// admits more than the owner usually means: every repository of a GitHub
// organisation, every project of a GitLab group, every workspace of a Terraform
// organisation, the service accounts of every namespace of a cluster, or every
// subject of another issuer. It returns false if a condition is not supported.
func (p Policy) WideFederations() (kinds []string, known bool) {
	known = true
	for _, s := range p.Statements {
		if !s.Allow || s.Principals.Except {
			continue
		}
		for _, member := range s.Principals.Names {
			issuer := oidcIssuer(member)
			if issuer == "" || slices.Contains(consumerIssuers, issuer) || p.excludes(member, s.Actions) {
				continue
			}
			switch narrow, supported := s.narrows(issuer); {
			case !supported:
				known = false
			case !narrow && !slices.Contains(kinds, issuerKind(issuer)):
				kinds = append(kinds, issuerKind(issuer))
			}
		}
	}
	slices.Sort(kinds)
	return kinds, known
}

// oidcIssuer returns the host and path of the issuer that a principal names, or an
// empty string for any other principal.
func oidcIssuer(member string) string {
	kind, name, _ := strings.Cut(member, ":")
	_, issuer, found := strings.Cut(name, ":oidc-provider/")
	if kind != "Federated" || !found {
		return ""
	}
	return strings.ToLower(issuer)
}

func issuerKind(issuer string) string {
	host, _, _ := strings.Cut(issuer, "/")
	switch kind := namedIssuers[host]; {
	case kind != "":
		return kind
	case strings.HasPrefix(host, "oidc.eks.") || strings.HasPrefix(host, "oidc-eks."):
		return kubernetes
	}
	return otherIssuer
}

// narrows reports whether one of the conditions limits the subjects of an issuer, and
// whether the operators of all conditions on its claims are supported.
func (s Statement) narrows(issuer string) (narrow, supported bool) {
	kind := issuerKind(issuer)
	supported = true
	for _, c := range s.Conditions {
		claim, ok := strings.CutPrefix(c.Key, issuer+":")
		if !ok {
			continue
		}
		t := c.test()
		if t.kind == unknownTest {
			supported = false
			continue
		}
		// Every token has a subject, so that IfExists and ForAllValues have no effect on it.
		skipped := claim != "sub" && (t.ifExists || t.forAll)
		if skipped || t.negated || t.kind != exactTest && t.kind != likeTest || len(c.Values) == 0 {
			continue
		}
		if !slices.ContainsFunc(c.Values, func(v string) bool { return wideClaim(kind, claim, expand(v), t.kind == likeTest) }) {
			narrow = true
		}
	}
	return narrow, supported || narrow
}

// wideClaim reports whether a value of a claim leaves the repository, project,
// workspace or namespace open.
func wideClaim(kind, claim, value string, like bool) bool {
	if claim == "aud" {
		return true
	}
	if kind == otherIssuer {
		return like && strings.Trim(value, "*?") == "" || strings.Contains(value, callerMark)
	}
	part := func(n int) string {
		field := strings.Split(value, ":")
		if n >= len(field) {
			return field[len(field)-1]
		}
		return field[n]
	}
	switch {
	case kind == gitHub && claim == "sub" && strings.HasPrefix(value, "repo:"), kind == gitLab && claim == "sub":
		return open(part(1), like)
	case kind == gitHub && claim == "job_workflow_ref", kind == gitHub && claim == "repository":
		owner, rest, _ := strings.Cut(value, "/")
		name, _, _ := strings.Cut(rest, "/")
		return open(owner+name, like)
	case kind == terraform && claim == "sub":
		return open(part(3), like) && open(part(5), like)
	case kind == kubernetes && claim == "sub":
		return open(part(2), like)
	case kind == gitHub && claim == "sub", claim == "repository_id", claim == "project_id", claim == "project_path",
		claim == "terraform_project_id", claim == "terraform_workspace_id":
		return open(value, like)
	}
	return true
}
