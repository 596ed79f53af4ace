package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	// rule is the wire form of a rule.
	rule struct {
		ID                    string              `json:"id"`
		OrgID                 string              `json:"orgId"`
		Name                  string              `json:"name"`
		DisplayName           string              `json:"displayName"`
		Description           string              `json:"description"`
		SuggestedAction       string              `json:"suggestedAction"`
		DocumentationLink     string              `json:"documentationLink"`
		Status                string              `json:"status"`
		Type                  string              `json:"type"`
		Source                string              `json:"source"`
		Category              string              `json:"category"`
		Provider              string              `json:"provider"`
		Service               string              `json:"service"`
		Level                 string              `json:"level"`
		Query                 string              `json:"query"`
		InventoryProvider     string              `json:"inventoryProvider"`
		VisualizationQuery    string              `json:"visualizationQuery"`
		ComplianceControlIDs  []string            `json:"complianceControlIds"`
		UnconfirmedControlIDs []string            `json:"unconfirmedControlIds,omitempty"`
		Resources             map[string]string   `json:"resources"`
		Triggers              map[string][]string `json:"triggers"`
		Tags                  map[string]string   `json:"tags"`
		CreationTime          int64               `json:"creationTime"`
		LastUpdateTime        int64               `json:"lastUpdateTime"`
		Parameters            []ruleParameter     `json:"parameters"`
		ParameterValues       map[string]any      `json:"parameterValues"`
		Table                 *versionTable       `json:"table,omitempty"`
		Reads                 *queryReads         `json:"reads,omitempty"` // only if the request includes reads
	}

	ruleParameter struct {
		Name        string `json:"name" required:"true"`
		Type        string `json:"type" required:"true" enum:"integer,integers,strings"`
		Default     any    `json:"default" required:"true"`
		Minimum     *int64 `json:"minimum,omitempty"`
		Maximum     *int64 `json:"maximum,omitempty"`
		Pattern     string `json:"pattern,omitempty"`
		Description string `json:"description" required:"true"`
	}

	// versionTable is the table of versions that a rule compares with.
	versionTable struct {
		Name   string       `json:"name"`
		Title  string       `json:"title"`
		Source string       `json:"source"`
		Read   string       `json:"read"` // the date on which the source was read
		Rows   []versionRow `json:"versions"`
	}
	versionRow struct {
		Product      string `json:"product"`
		Version      string `json:"version"`
		EndOfSupport string `json:"ends,omitempty"`
	}

	// queryText is the JSON object that a rule's query string contains.
	queryText struct {
		Language string `json:"inventoryQueryType"`
		Text     string `json:"queryString"`
	}

	addRuleIn struct {
		OrgID                string                              `json:"orgId"`
		Name                 string                              `json:"name" required:"true"`
		DisplayName          string                              `json:"displayName" required:"true"`
		Description          string                              `json:"description"`
		SuggestedAction      string                              `json:"suggestedAction"`
		DocumentationLink    string                              `json:"documentationLink"`
		Status               string                              `json:"status" enum:"Enabled,Disabled"`
		Type                 string                              `json:"type" enum:"Violation"`
		Source               string                              `json:"source" enum:"Custom"`
		Category             string                              `json:"category"`
		Provider             string                              `json:"provider" required:"true" enum:"aws,azure,gcp"`
		Service              string                              `json:"service"`
		Level                string                              `json:"level" required:"true" enum:"High,Med,Low"`
		Query                string                              `json:"query" required:"true"`
		InventoryProvider    string                              `json:"inventoryProvider"`
		VisualizationQuery   string                              `json:"visualizationQuery"`
		ComplianceControlIDs httpapi.Optional[[]string]          `json:"complianceControlIds"`
		Resources            httpapi.Optional[map[string]string] `json:"resources" maxItems:"3"`
		Tags                 httpapi.Optional[map[string]string] `json:"tags" maxItems:"200"`
		Parameters           []ruleParameter                     `json:"parameters" maxItems:"20"`
		ParameterValues      map[string]any                      `json:"parameterValues" maxItems:"20"`
	}

	rulePath struct {
		ID string `path:"rule_id"`
	}
	getRuleIn struct {
		rulePath
		Include string `query:"include" enum:"reads"`
	}

	deleteRuleIn struct {
		rulePath
		IfMatch httpapi.Match `header:"If-Match"`
	}

	// patchRuleIn declares the members that may be changed, and the fixed ones, which
	// Validate rejects by name.
	patchRuleIn struct {
		rulePath
		IfMatch   httpapi.Match                       `header:"If-Match"`
		Status    httpapi.Optional[string]            `json:"status" enum:"Enabled,Disabled"`
		Category  httpapi.Optional[string]            `json:"category"`
		Level     httpapi.Optional[string]            `json:"level" enum:"High,Med,Low"`
		Tags      httpapi.Optional[map[string]string] `json:"tags" maxItems:"200"`
		Resources httpapi.Optional[map[string]string] `json:"resources" maxItems:"3"`
		Values    httpapi.Optional[map[string]any]    `json:"parameterValues" maxItems:"20"`

		ID                    fixed `json:"id"`
		OrgID                 fixed `json:"orgId"`
		Name                  fixed `json:"name"`
		DisplayName           fixed `json:"displayName"`
		Description           fixed `json:"description"`
		SuggestedAction       fixed `json:"suggestedAction"`
		DocumentationLink     fixed `json:"documentationLink"`
		Type                  fixed `json:"type"`
		Source                fixed `json:"source"`
		Provider              fixed `json:"provider"`
		Service               fixed `json:"service"`
		Query                 fixed `json:"query"`
		InventoryProvider     fixed `json:"inventoryProvider"`
		VisualizationQuery    fixed `json:"visualizationQuery"`
		ComplianceControlIDs  fixed `json:"complianceControlIds"`
		UnconfirmedControlIDs fixed `json:"unconfirmedControlIds"`
		Triggers              fixed `json:"triggers"`
		Parameters            fixed `json:"parameters"`
		Table                 fixed `json:"table"`
		CreationTime          fixed `json:"creationTime"`
		LastUpdateTime        fixed `json:"lastUpdateTime"`
	}

	// fixed is a member that a request cannot change.
	fixed = httpapi.Optional[json.RawMessage]

	ruleQuery struct {
		Filters struct {
			IDs                    []string `json:"ids"`
			Providers              []string `json:"providers"`
			Services               []string `json:"services"`
			Levels                 []string `json:"levels"`
			Statuses               []string `json:"statuses"`
			Sources                []string `json:"sources"`
			Categories             []string `json:"categories"`
			ComplianceFrameworkIDs []string `json:"complianceFrameworkIds"`
			QueryString            string   `json:"queryString"`
		} `json:"filters" null:"absent"`
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings
	}
	rulePage struct {
		TotalCount        int      `json:"totalCount"`
		Results           []rule   `json:"results"`
		ContinuationToken string   `json:"continuationToken,omitempty"`
		Warnings          []string `json:"warnings,omitempty"`
	}
	ruleVersion struct {
		Version int          `json:"version"`
		Time    httpapi.Time `json:"time"`
		By      string       `json:"by"`
		Rule    rule         `json:"rule"`
	}
	ruleHistory struct {
		Results []ruleVersion `json:"results"`
	}
)

// queryJSON returns the query string of a rule's wire form: see queryText.
func queryJSON(q posture.RuleQuery) string {
	if q.Text == "" {
		return ""
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // keep <entity_id_clause> readable
	if err := enc.Encode(queryText{q.Language, q.Text}); err != nil {
		return "" // strings always encode
	}
	return strings.TrimSpace(text.String())
}

// readQuery parses the query string of a rule. Its errors name the member at path.
func readQuery(path, text string) (posture.RuleQuery, error) {
	if text == "" {
		return posture.RuleQuery{}, nil
	}
	var q queryText
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return posture.RuleQuery{}, fault.Field(path, "must be JSON with inventoryQueryType and queryString")
	}
	for _, language := range []string{posture.GraphQuery, posture.SearchQuery} {
		if strings.EqualFold(q.Language, language) {
			if strings.TrimSpace(q.Text) == "" {
				return posture.RuleQuery{}, fault.Field(path, "must have a queryString")
			}
			return posture.RuleQuery{Language: language, Text: q.Text}, nil
		}
	}
	return posture.RuleQuery{}, fault.Field(path, "must have the inventoryQueryType Graph or Search")
}

// ruleOf returns the wire form of a rule.
func ruleOf(org posture.OrgID, r posture.Rule) rule {
	w := rule{
		ID: string(r.ID), OrgID: string(org), Name: r.Name, DisplayName: r.DisplayName, Description: r.Description,
		SuggestedAction: r.SuggestedAction, DocumentationLink: r.DocumentationLink, Status: string(r.Status), Type: "Violation",
		Source: string(r.Source), Category: r.Category, Provider: string(r.Provider), Service: r.Service, Level: string(r.Level),
		Query: queryJSON(r.Query), InventoryProvider: r.InventoryProvider, VisualizationQuery: queryJSON(r.Visualization),
		ComplianceControlIDs: r.Controls, UnconfirmedControlIDs: r.Unconfirmed, Resources: r.Resources, Triggers: r.Triggers, Tags: r.Tags,
		CreationTime: r.Created.UnixMilli(), LastUpdateTime: r.Updated.UnixMilli(),
	}
	if w.Triggers == nil {
		w.Triggers = map[string][]string{}
	}
	w.Parameters = httpapi.Each(r.Parameters, func(p posture.RuleParameter) ruleParameter {
		return ruleParameter{p.Name, string(p.Type), p.Default, p.Minimum, p.Maximum, p.Pattern, p.Description}
	})
	w.ParameterValues = r.ParameterValues()
	if t := r.Table; t != nil {
		w.Table = &versionTable{t.Name, t.Title, t.Source, t.Read, httpapi.Each(t.Rows, func(r posture.VersionRow) versionRow { return versionRow(r) })}
	}
	return w
}

// ruleConverter returns a function that converts rules of the caller's organisation to
// their wire form.
func (a *API) ruleConverter(ctx context.Context) func(posture.Rule) rule {
	org := a.Org(ctx)
	return func(r posture.Rule) rule { return ruleOf(org, r) }
}

func (a *API) listRules(ctx context.Context, _ httpapi.None) ([]rule, error) {
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	return httpapi.Each(rules, a.ruleConverter(ctx)), err
}

func (a *API) getRule(ctx context.Context, in getRuleIn) (httpapi.Reply, error) {
	r, err := a.Book.Rule(ctx, a.Org(ctx), posture.RuleID(in.ID))
	if err != nil {
		return httpapi.Reply{}, err
	}
	w := ruleOf(a.Org(ctx), r)
	if in.Include == "" {
		return httpapi.Tagged(r.ETag, w), nil
	}
	if readSet, err := a.Judge.Evaluator.ReadSet(r.Query); err == nil { // left out if the query no longer compiles
		reads := readsOf(readSet)
		w.Reads = &reads
	}
	return httpapi.Tagged(r.ETag, w), nil
}

func (a *API) queryRules(ctx context.Context, in ruleQuery) (rulePage, error) {
	list := listing{"rules", &in.Filters}
	page, err := a.page(ctx, list, in.Pagination, everything)
	if err != nil {
		return rulePage{}, err
	}
	var bad []fault.Detail
	filter := posture.RuleFilter{
		Providers: checkKnown("filters.providers", in.Filters.Providers, posture.Providers, &bad),
		Levels:    checkKnown("filters.levels", in.Filters.Levels, posture.RuleLevels, &bad),
		Statuses:  checkKnown("filters.statuses", in.Filters.Statuses, posture.RuleStatuses, &bad),
		Sources:   checkKnown("filters.sources", in.Filters.Sources, posture.RuleSources, &bad),
		Services:  in.Filters.Services, Categories: in.Filters.Categories, Frameworks: in.Filters.ComplianceFrameworkIDs, Text: in.Filters.QueryString,
	}
	for _, id := range in.Filters.IDs {
		filter.IDs = append(filter.IDs, posture.RuleID(id))
	}
	if len(bad) > 0 {
		return rulePage{}, fault.Fields(bad...)
	}
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return rulePage{}, err
	}
	var found []posture.Rule
	out := rulePage{Warnings: in.Warnings}
	for _, r := range rules { // sorted by id
		if !filter.Matches(r) {
			continue
		}
		out.TotalCount++
		if string(r.ID) > page.After {
			found = append(found, r)
		}
	}
	found, out.ContinuationToken, err = endPage(ctx, a, list, page, found, func(r posture.Rule) string { return string(r.ID) })
	out.Results = httpapi.Each(found, a.ruleConverter(ctx))
	return out, err
}

func (a *API) addRule(ctx context.Context, in addRuleIn) (httpapi.Reply, error) {
	r, err := in.rule(a.Org(ctx))
	if err != nil {
		return httpapi.Reply{}, err
	}
	added, err := a.Book.Add(ctx, a.Org(ctx), r, a.Caller(ctx))
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/rules/"+string(added.ID), added.ETag, ruleOf(a.Org(ctx), added)), nil
}

// rule converts a request to a rule. Members that were left out get their defaults.
func (in addRuleIn) rule(org posture.OrgID) (posture.Rule, error) {
	if in.OrgID != "" && in.OrgID != string(org) {
		return posture.Rule{}, fault.Field("orgId", "must be the id of your organisation, or left out")
	}
	r := posture.Rule{
		Name: in.Name, DisplayName: in.DisplayName, Description: in.Description, SuggestedAction: in.SuggestedAction,
		DocumentationLink: in.DocumentationLink, Status: posture.RuleStatus(in.Status), Category: in.Category,
		Provider: posture.Provider(in.Provider), Service: in.Service, Level: posture.RuleLevel(in.Level), InventoryProvider: in.InventoryProvider,
		Controls: in.ComplianceControlIDs.Value, Resources: in.Resources.Value, Tags: in.Tags.Value,
	}
	var bad []fault.Detail
	var err error
	if r.Query, err = readQuery("query", in.Query); err != nil {
		bad = append(bad, fault.Details(err)...)
	}
	if r.Visualization, err = readQuery("visualizationQuery", in.VisualizationQuery); err != nil {
		bad = append(bad, fault.Details(err)...)
	}
	for _, p := range in.Parameters {
		r.Parameters = append(r.Parameters, posture.RuleParameter{
			Name: p.Name, Type: posture.ParameterType(p.Type), Default: p.Default, Minimum: p.Minimum, Maximum: p.Maximum, Pattern: p.Pattern, Description: p.Description,
		})
	}
	if len(bad) > 0 {
		return r, fault.Fields(bad...)
	}
	if r, err = r.WithValues(in.ParameterValues); err != nil {
		return r, err
	}
	if r.Status == "" {
		r.Status = posture.RuleEnabled
	}
	if r.Category == "" {
		r.Category = "Security"
	}
	if r.Service == "" {
		r.Service = "General"
	}
	if r.Visualization.Text == "" {
		r.Visualization = posture.RuleQuery{Language: posture.GraphQuery, Text: "g.V()." + posture.EntityClause}
	}
	return r, nil
}

// Validate reports fixed members, and null where a string is required.
func (in *patchRuleIn) Validate() error {
	var bad []fault.Detail
	for name, member := range map[string]fixed{
		"id": in.ID, "orgId": in.OrgID, "name": in.Name, "displayName": in.DisplayName, "description": in.Description,
		"suggestedAction": in.SuggestedAction, "documentationLink": in.DocumentationLink, "type": in.Type, "source": in.Source,
		"provider": in.Provider, "service": in.Service, "query": in.Query, "inventoryProvider": in.InventoryProvider,
		"visualizationQuery": in.VisualizationQuery, "complianceControlIds": in.ComplianceControlIDs,
		"unconfirmedControlIds": in.UnconfirmedControlIDs, "triggers": in.Triggers,
		"parameters": in.Parameters, "table": in.Table, "creationTime": in.CreationTime, "lastUpdateTime": in.LastUpdateTime,
	} {
		if member.Sent {
			bad = append(bad, fault.Detail{Path: name, Message: "cannot be changed"})
		}
	}
	for name, member := range map[string]httpapi.Optional[string]{"status": in.Status, "category": in.Category, "level": in.Level} {
		if member.Null {
			bad = append(bad, fault.Detail{Path: name, Message: "must be a string"})
		}
	}
	slices.SortFunc(bad, func(a, b fault.Detail) int { return strings.Compare(a.Path, b.Path) })
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

func (a *API) patchRule(ctx context.Context, in patchRuleIn) (httpapi.Reply, error) {
	var p posture.RulePatch
	if in.Status.Sent {
		p.Status = posture.Give(posture.RuleStatus(in.Status.Value))
	}
	if in.Category.Sent {
		p.Category = posture.Give(in.Category.Value)
	}
	if in.Level.Sent {
		p.Level = posture.Give(posture.RuleLevel(in.Level.Value))
	}
	if in.Tags.Sent {
		p.Tags = posture.Give(in.Tags.Value)
	}
	if in.Resources.Sent {
		p.Resources = posture.Give(in.Resources.Value)
	}
	p.Values = in.Values.Value // nil changes no value
	return a.changeRule(ctx, in.rulePath, in.IfMatch, p)
}

// changeRule applies a patch if the If-Match header names the current version of the rule.
func (a *API) changeRule(ctx context.Context, path rulePath, match httpapi.Match, p posture.RulePatch) (httpapi.Reply, error) {
	r, err := a.Book.Patch(ctx, a.Org(ctx), posture.RuleID(path.ID), p, versionCheck(match), a.Caller(ctx))
	return httpapi.Tagged(r.ETag, ruleOf(a.Org(ctx), r)), err
}

func (a *API) deleteRule(ctx context.Context, in deleteRuleIn) (rule, error) {
	r, err := a.Book.Delete(ctx, a.Org(ctx), posture.RuleID(in.ID), in.IfMatch.Versions())
	return ruleOf(a.Org(ctx), r), err
}

func (a *API) getRuleHistory(ctx context.Context, in rulePath) (ruleHistory, error) {
	versions, err := a.Book.History(ctx, a.Org(ctx), posture.RuleID(in.ID))
	return ruleHistory{httpapi.Each(versions, func(v posture.RuleChange) ruleVersion {
		return ruleVersion{v.Version, httpapi.Time{Time: v.At}, v.By, ruleOf(a.Org(ctx), v.Rule)}
	})}, err
}
