package aws

import (
	"fmt"
	"slices"
	"testing"
)

func TestWideFederations(t *testing.T) {
	t.Parallel()
	const (
		github = "token.actions.githubusercontent.com"
		eks    = "oidc.eks.eu-west-1.amazonaws.com/id/0A1B"
	)
	for _, test := range []struct {
		name, issuer, conditions string
		want                     []string
	}{
		{"one repository", github, `"StringLike":{"` + github + `:sub":"repo:acme/site:*"}`, nil},
		{"one branch", github, `"StringEquals":{"` + github + `:sub":"repo:acme/site:ref:refs/heads/main","` + github + `:aud":"sts.amazonaws.com"}`, nil},
		{"every repository of an organisation", github, `"StringLike":{"` + github + `:sub":"repo:acme/*"}`, []string{"github"}},
		{"repositories whose names begin alike", github, `"StringLike":{"` + github + `:sub":"repo:acme/site*:*"}`, []string{"github"}},
		{"one of two values is wide", github, `"StringLike":{"` + github + `:sub":["repo:acme/site:*","repo:acme/*"]}`, []string{"github"}},
		{"a wildcard that is compared literally", github, `"StringEquals":{"` + github + `:sub":"repo:acme/*"}`, nil},
		{"the owner alone", github, `"StringEquals":{"` + github + `:repository_owner":"acme"}`, []string{"github"}},
		{"a repository by its own claim", github, `"StringEquals":{"` + github + `:repository":"acme/site"}`, nil},
		{"one reusable workflow", github, `"StringLike":{"` + github + `:job_workflow_ref":"acme/site/.github/workflows/deploy.yml@*"}`, nil},
		{"an exception", github, `"StringNotLike":{"` + github + `:sub":"repo:acme/test:*"}`, []string{"github"}},
		{"the audience alone", github, `"StringEquals":{"` + github + `:aud":"sts.amazonaws.com"}`, []string{"github"}},
		{"a quantifier over the subject", github, `"ForAllValues:StringLike":{"` + github + `:sub":"repo:acme/site:*"}`, nil},
		{"one project", "gitlab.com", `"StringLike":{"gitlab.com:sub":"project_path:acme/web/site:ref_type:branch:ref:*"}`, nil},
		{"every project of a group", "gitlab.com", `"StringLike":{"gitlab.com:sub":"project_path:acme/*:ref_type:branch:ref:main"}`, []string{"gitlab"}},
		{"one workspace", "app.terraform.io", `"StringLike":{"app.terraform.io:sub":"organization:acme:project:*:workspace:prod:run_phase:*"}`, nil},
		{"one project of Terraform", "app.terraform.io", `"StringLike":{"app.terraform.io:sub":"organization:acme:project:web:workspace:*:run_phase:*"}`, nil},
		{"an organisation of Terraform", "app.terraform.io", `"StringLike":{"app.terraform.io:sub":"organization:acme:*"}`, []string{"terraform"}},
		{"one service account", eks, `"StringEquals":{"` + eks + `:sub":"system:serviceaccount:web:site"}`, nil},
		{"one namespace", eks, `"StringLike":{"` + eks + `:sub":"system:serviceaccount:web:*"}`, nil},
		{"every namespace", eks, `"StringLike":{"` + eks + `:sub":"system:serviceaccount:*:site"}`, []string{"kubernetes"}},
		{"every service account", eks, `"StringEquals":{"` + eks + `:aud":"sts.amazonaws.com"}`, []string{"kubernetes"}},
		{"a subject of another issuer", "id.example.com", `"StringEquals":{"id.example.com:sub":"job-7"}`, nil},
		{"every subject of another issuer", "id.example.com", `"StringEquals":{"id.example.com:aud":"aws"}`, []string{"other"}},
		{"a wildcard for another issuer", "id.example.com", `"StringLike":{"id.example.com:sub":"*"}`, []string{"other"}},
		{"an identity pool", "cognito-identity.amazonaws.com", `"StringEquals":{"cognito-identity.amazonaws.com:aud":"pool"}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _, err := Parse(fmt.Sprintf(`{"Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/%s"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{%s}}}`, test.issuer, test.conditions))
			if err != nil {
				t.Fatal(err)
			}
			if got, known := p.WideFederations(); !known || !slices.Equal(got, test.want) {
				t.Errorf("wide for %q, known %t; want %q", got, known, test.want)
			}
		})
	}
}

// TestWideFederationsOfUnsupportedConditions checks that a condition that is not
// understood makes the result unknown, unless another one limits the subject.
func TestWideFederationsOfUnsupportedConditions(t *testing.T) {
	t.Parallel()
	const statement = `{"Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/gitlab.com"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{%s}}}`
	const odd = `"StringMatches":{"gitlab.com:sub":"x"}`
	for conditions, want := range map[string]bool{odd: false, odd + `,"StringEquals":{"gitlab.com:project_path":"acme/site"}`: true} {
		p, _, err := Parse(fmt.Sprintf(statement, conditions))
		if err != nil {
			t.Fatal(err)
		}
		if kinds, known := p.WideFederations(); known != want || len(kinds) > 0 {
			t.Errorf("%s: %q, known %t; want known %t", conditions, kinds, known, want)
		}
	}
}
