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
// subject of another issuer. It returns false if that cannot be decided: a condition is not
// supported, or only a reusable workflow of GitHub is named, which every repository can call if
// the workflow is in a public repository.
func (p Policy) WideFederations() (kinds []string, known bool) {
	known = true
	for _, s := range p.Statements {
		if !s.Allow || s.Principals.Except {
			continue
		}
		denies := p.denied(s.Actions)
		for _, member := range s.Principals.Names {
			issuer := oidcIssuer(member)
			if issuer == "" || slices.Contains(consumerIssuers, issuer) || excludes(denies, member) {
				continue
			}
			switch narrow, decided := s.narrows(issuer); {
			case !decided:
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

// narrows reports whether the conditions limit the subjects of an issuer, and whether that can be
// decided.
func (s Statement) narrows(issuer string) (narrow, decided bool) {
	kind := issuerKind(issuer)
	decided = true
	workflow, owner := false, false // the conditions fix the reusable workflow, the owner of the calling repository
	for _, c := range s.Conditions {
		claim, ok := strings.CutPrefix(c.Key, issuer+":")
		if !ok {
			continue
		}
		t := c.test()
		if t.kind == unknownTest {
			decided = false
			continue
		}
		// Every token has a subject, so IfExists and ForAllValues have no effect on it.
		skipped := claim != "sub" && (t.ifExists || t.forAll)
		if skipped || t.negated || t.kind != exactTest && t.kind != likeTest || len(c.Values) == 0 {
			continue
		}
		every := func(fixed func(kind, claim, value string, like bool) bool) bool {
			return !slices.ContainsFunc(c.Values, func(v string) bool { return !fixed(kind, claim, expand(v), t.kind == likeTest) })
		}
		narrow = narrow || every(narrowClaim)
		workflow, owner = workflow || every(fixesWorkflow), owner || every(fixesOwner)
	}
	if workflow {
		// Every repository on GitHub can call a workflow of a public repository. Vigil does not read whether the repository is public.
		narrow, decided = narrow || owner, decided && owner
	}
	return narrow, decided || narrow
}

// fixesWorkflow reports whether a value of a claim names one reusable workflow of GitHub. It says
// nothing about the repository that calls the workflow.
func fixesWorkflow(kind, claim, value string, like bool) bool {
	if claim == "sub" {
		value = labelled(value, "job_workflow_ref")
	}
	return kind == gitHub && (claim == "sub" || claim == "job_workflow_ref") && value != "" && !openRepository(value, like)
}

// fixesOwner reports whether a value of a claim names the owner of the repository whose workflow
// GitHub runs.
func fixesOwner(kind, claim, value string, like bool) bool {
	fixed := func(name string) bool {
		owner, _, _ := strings.Cut(name, "/")
		return owner != "" && !open(owner, like)
	}
	switch {
	case kind != gitHub:
		return false
	case claim == "sub":
		labels := append([]string{"repository_owner", "repository_owner_id"}, repositoryLabels...)
		return slices.ContainsFunc(labels, func(label string) bool { return fixed(labelled(value, label)) })
	}
	return slices.Contains([]string{"repository_owner", "repository_owner_id", "repository"}, claim) && fixed(value)
}

// narrowClaim reports whether a value of a claim fixes the repository, project, workspace or
// namespace.
func narrowClaim(kind, claim, value string, like bool) bool {
	fixed := func(label string) bool {
		name := labelled(value, label)
		return name != "" && !open(name, like)
	}
	fixedRepository := func(label string) bool {
		name := labelled(value, label)
		return name != "" && !openRepository(name, like)
	}
	switch {
	case claim == "aud":
		return false
	case kind == otherIssuer: // every value limits the claim, except wildcards alone and variables of the caller
		return !(like && strings.Trim(value, "*?") == "") && !strings.Contains(value, callerMark)
	case kind == gitHub && claim == "sub":
		return slices.ContainsFunc(repositoryLabels, fixedRepository) || fixed("repository_id")
	case kind == gitHub && claim == "repository":
		return !openRepository(value, like)
	case kind == gitLab && claim == "sub":
		return fixed("project_path")
	case kind == terraform && claim == "sub":
		return fixed("organization") && (fixed("project") || fixed("workspace"))
	case kind == kubernetes:
		return claim == "sub" && fixed("serviceaccount")
	}
	return slices.Contains(fixingClaims[kind], claim) && !open(value, like)
}

// repositoryLabels are the labels in subjects of GitHub before the name of the repository that
// runs the workflow. An organisation chooses which of them its subjects have; the default is repo.
var repositoryLabels = []string{"repo", "repository", "workflow_ref"}

// fixingClaims are the claims that identify one repository, project or workspace, by the
// kind of issuer.
var fixingClaims = map[string][]string{
	gitHub: {"repository_id"}, gitLab: {"project_id", "project_path"}, terraform: {"terraform_project_id", "terraform_workspace_id"},
}

// labelled returns the part after a label of a subject such as
// "project_path:acme/site:ref_type:branch", "" when it has no such label. A wildcard
// before the label does not matter, because the parts do not contain colons.
func labelled(subject, label string) string {
	_, after, _ := strings.Cut(":"+subject, ":"+label+":")
	part, _, _ := strings.Cut(after, ":")
	return part
}

// openRepository reports whether strangers can match the owner or the name at the
// beginning of a path in a repository.
func openRepository(path string, like bool) bool {
	owner, rest, _ := strings.Cut(path, "/")
	name, _, _ := strings.Cut(rest, "/")
	return open(owner+name, like)
}
