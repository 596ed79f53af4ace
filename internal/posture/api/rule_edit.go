package api

import (
	"context"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

// putRuleIn has the members that may be changed in a custom rule, besides those that
// may be patched in every rule. Members that are left out stay unchanged.
type putRuleIn struct {
	rulePath
	IfMatch              httpapi.Match `header:"If-Match"`
	Name                 *string       `json:"name"`
	DisplayName          *string       `json:"displayName"`
	Description          *string       `json:"description"`
	SuggestedAction      *string       `json:"suggestedAction"`
	DocumentationLink    *string       `json:"documentationLink"`
	Service              *string       `json:"service"`
	Query                *string       `json:"query"`
	VisualizationQuery   *string       `json:"visualizationQuery"`
	ComplianceControlIDs *[]string     `json:"complianceControlIds"`
}

func (a *API) putRule(ctx context.Context, in putRuleIn) (httpapi.Reply, error) {
	p, err := in.patch()
	if err != nil {
		return httpapi.Reply{}, err
	}
	return a.changeRule(ctx, in.rulePath, in.IfMatch, p)
}

// patch returns the changes.
func (in *putRuleIn) patch() (p posture.RulePatch, err error) {
	for _, m := range []struct {
		from   *string
		target *posture.Given[string]
	}{
		{in.Name, &p.Name}, {in.DisplayName, &p.DisplayName}, {in.Description, &p.Description}, {in.SuggestedAction, &p.SuggestedAction},
		{in.DocumentationLink, &p.DocumentationLink}, {in.Service, &p.Service},
	} {
		if m.from != nil {
			*m.target = posture.Give(*m.from)
		}
	}
	for _, m := range []struct {
		path   string
		from   *string
		target *posture.Given[posture.RuleQuery]
	}{{"query", in.Query, &p.Query}, {"visualizationQuery", in.VisualizationQuery, &p.Visualization}} {
		if m.from == nil {
			continue
		}
		q, err := readQuery(m.path, *m.from)
		if err != nil {
			return p, err
		}
		*m.target = posture.Give(q)
	}
	if in.ComplianceControlIDs != nil {
		p.Controls = posture.Give(*in.ComplianceControlIDs)
	}
	return p, nil
}
