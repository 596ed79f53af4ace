package derive

import (
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// awsGuardrail adds the filters of a Bedrock guardrail that act. A filter can be disabled, and
// the action NONE only reports what it detects. Guardrails that are older than these settings
// lack them; their filters act.
var awsGuardrail = resource.Function{
	Properties: []resource.Property{
		{Name: "promptAttackStrength", Kind: resource.Text, Values: resource.Strings{"NONE", "LOW", "MEDIUM", "HIGH"}, Doc: "The strength of its prompt attack filter; absent without one, or if the filter does not block."},
		{Name: "sensitiveInformationFilter", Kind: resource.Flag, Doc: "It blocks or masks sensitive information."},
		{Name: "contextualGroundingFilters", Kind: resource.Texts, Values: resource.Strings{"GROUNDING", "RELEVANCE"}, Doc: "Its contextual grounding filters that block answers."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		for _, filter := range in.Value.Get("contentPolicy.filters").Array() {
			if filter.Get("type").Str == "PROMPT_ATTACK" && acts(filter, "inputEnabled", "inputAction") {
				b.Text("promptAttackStrength", filter.Get("inputStrength").Str)
			}
		}
		sensitive := slices.Concat(in.Value.Get("sensitiveInformationPolicy.piiEntities").Array(), in.Value.Get("sensitiveInformationPolicy.regexes").Array())
		b.Flag("sensitiveInformationFilter", slices.ContainsFunc(sensitive, func(filter gjson.Result) bool {
			return acts(filter, "inputEnabled", "inputAction") || acts(filter, "outputEnabled", "outputAction")
		}))
		var grounding []string
		for _, filter := range in.Value.Get("contextualGroundingPolicy.filters").Array() {
			if acts(filter, "enabled", "action") {
				grounding = append(grounding, filter.Get("type").Str)
			}
		}
		b.Set("contextualGroundingFilters", grounding)
		return nil
	},
}

// acts reports whether a filter of a guardrail is enabled and does more than report.
func acts(filter gjson.Result, enabled, action string) bool {
	if e := filter.Get(enabled); e.Exists() && !e.Bool() {
		return false
	}
	return filter.Get(action).Str != "NONE"
}
