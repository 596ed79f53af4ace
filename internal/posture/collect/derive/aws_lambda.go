package derive

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/resource"
)

// awsFunctionURLs adds whether strangers can call a function by its URLs. A URL without
// authentication answers only callers whom the policy of the function, or of the alias
// that has the URL, allows lambda:InvokeFunctionUrl and lambda:InvokeFunction. AWS requires
// the second action of new URLs since October 2025, of all since November 2026.
var awsFunctionURLs = resource.Function{
	Properties: []resource.Property{
		{Name: "urlIsPublic", Kind: resource.Flag, Doc: "A function URL does not ask who calls, and the policy of the function or of its alias allows everybody both actions that a call needs (lambda:InvokeFunctionUrl and lambda:InvokeFunction).", Exposed: "answers without asking who calls"},
	},
	Permissions: []string{"lambda:GetPolicy"},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		public := predicate.Of(false, "")
		for _, url := range in.Value.Array() {
			if url.Get("AuthType").Str != "NONE" {
				continue
			}
			answer, err := urlPolicyIsPublic(in, url)
			if err != nil {
				return err
			}
			public = predicate.Or(public, answer)
		}
		putAnswer(b, "urlIsPublic", public)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("urlIsPublic", false) },
}

// urlPolicyIsPublic decides whether everybody may call a URL without authentication: whether
// the policy of its function or alias allows it.
func urlPolicyIsPublic(in resource.FunctionInput, url gjson.Result) (predicate.Answer, error) {
	input := `{FunctionName: $name}`
	if parts := strings.Split(url.Get("FunctionArn").Str, ":"); len(parts) == 8 { // arn:aws:lambda:region:account:function:name:alias
		input = `{FunctionName: $name, Qualifier: "` + parts[7] + `"}`
	}
	pages, err := in.Caller.Call(in.Ctx, resource.NewRequest("lambda.GetPolicy", input), in.Item)
	switch {
	case errors.Is(err, collect.ErrGone):
		return predicate.Of(false, ""), nil
	case err != nil:
		return predicate.Answer{}, err
	}
	policy, _, err := aws.Parse(pages[0].Get("Policy").Str)
	if err != nil {
		return predicate.NotKnown(err.Error()), nil
	}
	return policy.PublicURL(), nil
}
