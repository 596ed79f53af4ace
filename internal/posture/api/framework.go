package api

import (
	"context"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/rulebook"
)

type (
	framework struct {
		ID              string `json:"id"`
		Name            string `json:"name"`
		Version         string `json:"version"`
		PublicationDate string `json:"publicationDate"`
		Author          string `json:"author"`
		Description     string `json:"description"`
		URL             string `json:"url"`
		CreationTime    int64  `json:"creationTime"`
		LastUpdateTime  int64  `json:"lastUpdateTime"`
		Custom          bool   `json:"custom"`
		Source          string `json:"source,omitempty"`
	}
	frameworkPage struct {
		TotalCount int         `json:"totalCount"`
		Results    []framework `json:"results"`
	}
	control struct {
		ID        string   `json:"id"`
		ControlID string   `json:"controlId"`
		Title     string   `json:"title"`
		Section   string   `json:"section"`
		RuleIDs   []string `json:"ruleIds"`

		// Assessment says how the control is assessed: rule, manual (the publisher says
		// that it cannot be automated), or noRule.
		Assessment string `json:"assessment"`
	}
	controlPage struct {
		TotalCount int       `json:"totalCount"`
		Results    []control `json:"results"`
	}
	controlPosture struct {
		control
		verdictSum
		Rules    map[string]*verdictSum `json:"rules,omitempty"`    // by rule, if details were requested
		Accounts map[string]*verdictSum `json:"accounts,omitempty"` // by account, if details were requested
		Unread   []unread               `json:"unread,omitempty"`   // the first scopes that were not listed
		Assessed *assessed              `json:"assessed,omitempty"` // what a person says, if no rule checks the control
	}
	verdictSum struct {
		Violating int `json:"violating"`
		Passing   int `json:"passing"`
		Unknown   int `json:"unknown"`
		// NotApplicable counts resources of the rules' types that the rules do not
		// apply to.
		NotApplicable int `json:"notApplicable"`
		// NotListed counts the scopes (type and region) of the rules that were not
		// listed at the last collection: their number of resources is unknown.
		NotListed int `json:"notListed"`
	}
	posturePage struct {
		TotalCount int                      `json:"totalCount"`
		Results    []controlPosture         `json:"results"`
		Sections   []sectionPosture         `json:"sections"`
		Accounts   map[string]*controlTally `json:"accounts"`
	}
	frameworkPath struct {
		ID string `path:"framework_id"`
	}
	postureIn struct {
		frameworkPath
		CloudAccountIDs []string `json:"cloudAccountIds"`
		Details         bool     `json:"details"`
	}
	putFrameworkIn struct {
		frameworkPath
		Name            string `json:"name" required:"true"`
		Version         string `json:"version"`
		PublicationDate string `json:"publicationDate"`
		Author          string `json:"author"`
		Description     string `json:"description"`
		URL             string `json:"url"`
		Controls        []struct {
			ControlID string `json:"controlId" required:"true"`
			Title     string `json:"title" required:"true"`
			Section   string `json:"section"`
		} `json:"controls" required:"true" maxItems:"5000"`
	}
)

func frameworkOf(f posture.Framework) framework {
	return framework{
		f.ID, f.Name, f.Version, f.Published, f.Author, f.Description, f.URL, f.Created.UnixMilli(), f.Updated.UnixMilli(), f.Custom, f.Source,
	}
}

func (a *API) listFrameworks(ctx context.Context, _ httpapi.None) (frameworkPage, error) {
	all, err := a.Book.Frameworks(ctx, a.Org(ctx))
	return frameworkPage{len(all), httpapi.Each(all, frameworkOf)}, err
}

func (a *API) getFramework(ctx context.Context, in frameworkPath) (framework, error) {
	f, err := a.Book.Framework(ctx, a.Org(ctx), in.ID)
	return frameworkOf(f), err
}

// controls returns the controls of a framework with their rules.
func (a *API) controls(ctx context.Context, id string) ([]control, error) {
	f, err := a.Book.Framework(ctx, a.Org(ctx), id)
	if err != nil {
		return nil, err
	}
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return nil, err
	}
	rulesOf := rulebook.RulesOf(f, rules)
	return httpapi.Each(f.Controls, func(c posture.Control) control {
		ids := httpapi.Each(rulesOf[c.ID], func(id posture.RuleID) string { return string(id) })
		return control{f.ControlID(c.ID), c.ID, c.Title, c.Section, ids, assessment(c, len(ids))}
	}), nil
}

// assessment returns how a control is assessed.
func assessment(c posture.Control, rules int) string {
	switch {
	case rules > 0:
		return "rule"
	case c.Manual:
		return "manual"
	}
	return "noRule"
}

func (a *API) listControls(ctx context.Context, in frameworkPath) (controlPage, error) {
	found, err := a.controls(ctx, in.ID)
	return controlPage{len(found), found}, err
}

func (a *API) getPosture(ctx context.Context, in postureIn) (posturePage, error) {
	found, err := a.controls(ctx, in.ID)
	if err != nil {
		return posturePage{}, err
	}
	var rules []posture.RuleID
	for _, c := range found {
		for _, id := range c.RuleIDs {
			rules = append(rules, posture.RuleID(id))
		}
	}
	if len(rules) == 0 {
		rules = append(rules, "none") // selects no rule; an empty list would select all
	}
	verdicts, err := a.Findings.Verdicts(ctx, a.Org(ctx), rules, idsOf[posture.AccountID](in.CloudAccountIDs))
	if err != nil {
		return posturePage{}, err
	}
	verdictsOf := map[string][]posture.RuleVerdict{}
	for _, v := range verdicts {
		verdictsOf[string(v.Rule)] = append(verdictsOf[string(v.Rule)], v)
	}
	results := httpapi.Each(found, func(c control) controlPosture {
		p := controlPosture{control: c, Rules: map[string]*verdictSum{}, Accounts: map[string]*verdictSum{}}
		for _, id := range c.RuleIDs {
			for _, v := range verdictsOf[id] {
				p.add(v)
			}
		}
		return p
	})
	if err := a.addNotListed(ctx, results, in.CloudAccountIDs); err != nil {
		return posturePage{}, err
	}
	if err := a.addAssessments(ctx, in.ID, results); err != nil {
		return posturePage{}, err
	}
	page := posturePage{len(results), results, sectionsOf(results), accountsOf(results)}
	if !in.Details {
		for i := range page.Results {
			page.Results[i].Rules, page.Results[i].Accounts = nil, nil
		}
	}
	return page, nil
}

// add adds the result of a rule in an account.
func (p *controlPosture) add(v posture.RuleVerdict) {
	for _, s := range []*verdictSum{&p.verdictSum, sumOf(p.Rules, string(v.Rule)), sumOf(p.Accounts, string(v.Account))} {
		s.Violating, s.Passing, s.Unknown = s.Violating+v.Violating, s.Passing+v.Passing, s.Unknown+v.Unknown
		s.NotApplicable += v.NotApplicable
	}
}

func sumOf(sums map[string]*verdictSum, key string) *verdictSum {
	if sums[key] == nil {
		sums[key] = new(verdictSum)
	}
	return sums[key]
}

func (a *API) putFramework(ctx context.Context, in putFrameworkIn) (framework, error) {
	f := posture.Framework{
		ID: in.ID, Name: in.Name, Version: in.Version, Published: in.PublicationDate, Author: in.Author, Description: in.Description, URL: in.URL,
	}
	if f.Published == "" {
		f.Published = a.Now().UTC().Format("2006-01-02")
	}
	for _, c := range in.Controls {
		f.Controls = append(f.Controls, posture.Control{ID: c.ControlID, Title: c.Title, Section: c.Section})
	}
	saved, err := a.Book.SaveFramework(ctx, a.Org(ctx), f)
	return frameworkOf(saved), err
}

func (a *API) deleteFramework(ctx context.Context, in frameworkPath) (framework, error) {
	f, err := a.Book.Framework(ctx, a.Org(ctx), in.ID)
	if err != nil {
		return framework{}, err
	}
	return frameworkOf(f), a.Book.Store.DeleteFramework(ctx, a.Org(ctx), in.ID)
}
