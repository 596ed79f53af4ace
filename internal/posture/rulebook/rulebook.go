// Package rulebook manages the rules and frameworks of an organisation: the built-in
// ones, the organisation's changes to them, and its own.
//
// A [Book] merges the catalog with the store. The API reads and changes rules through
// it, and package judge takes the rules to evaluate from it.
package rulebook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/gremlin"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/queryfault"
	"vigil/internal/posture/search"
)

// Store stores the changes of organisations.
type Store interface {
	posture.RuleStore
	posture.FrameworkStore
	posture.AssessmentStore
}

// Book reads and changes rules and frameworks.
type Book struct {
	Catalog *catalog.Catalog
	Store   Store
	Now     func() time.Time
	NewID   func() posture.RuleID

	cache ruleCache
}

// overridden returns a native rule with an organisation's changes applied. All other
// members are those of the product, which may be newer than the change.
func overridden(entry catalog.Entry, changed posture.Rule) posture.Rule {
	native := entry.With(changed.Values)
	native.Status, native.Category, native.Level = changed.Status, changed.Category, changed.Level
	native.Tags, native.Resources = changed.Tags, changed.Resources
	native.Version, native.ETag, native.Updated = changed.Version, changed.ETag, changed.Updated
	return native
}

// Rule returns a rule, or fault.NotFound.
func (b *Book) Rule(ctx context.Context, org posture.OrgID, id posture.RuleID) (posture.Rule, error) {
	rules, err := b.Rules(ctx, org)
	if err != nil {
		return posture.Rule{}, err
	}
	i := slices.IndexFunc(rules, func(r posture.Rule) bool { return r.ID == id })
	if i < 0 {
		return posture.Rule{}, posture.RuleNotFound(id)
	}
	return rules[i], nil
}

// Patch changes a rule if check accepts its ETag.
func (b *Book) Patch(ctx context.Context, org posture.OrgID, id posture.RuleID, p posture.RulePatch, check func(etag string) error, actor string) (posture.Rule, error) {
	r, err := b.Rule(ctx, org, id)
	if err != nil {
		return r, err
	}
	if r.Source == posture.Custom { // patch it as it was written: b.Rule returns it with values in place of {parameters}
		written, _, err := b.Store.Rules(ctx, org)
		if err != nil {
			return r, err
		}
		var exists bool
		if r, exists = written[id]; !exists { // deleted since the first read
			return r, posture.RuleNotFound(id)
		}
	}
	if err := check(r.ETag); err != nil {
		return r, err
	}
	if r, err = r.Patched(p, b.Now()); err != nil {
		return r, err
	}
	if r.Source == posture.Custom {
		if err := b.check(ctx, org, r); err != nil {
			return r, err
		}
	}
	return b.bound(r), b.Store.SaveRule(ctx, org, r, actor)
}

// bound returns a changed rule as [Book.Rule] will return it: with its parameters bound.
func (b *Book) bound(r posture.Rule) posture.Rule {
	if i := slices.IndexFunc(b.Catalog.Rules, func(e catalog.Entry) bool { return e.ID == r.ID }); i >= 0 {
		return overridden(b.Catalog.Rules[i], r)
	}
	return r.Bind()
}

// Add validates and stores a custom rule.
func (b *Book) Add(ctx context.Context, org posture.OrgID, r posture.Rule, actor string) (posture.Rule, error) {
	now := b.Now()
	r.ID, r.Source, r.Version, r.ETag, r.Created, r.Updated = b.NewID(), posture.Custom, 1, posture.NewETag(), now, now
	if err := b.check(ctx, org, r); err != nil {
		return r, err
	}
	return r.Bind(), b.Store.SaveRule(ctx, org, r, actor)
}

// Delete deletes a custom rule and resolves its findings.
func (b *Book) Delete(ctx context.Context, org posture.OrgID, id posture.RuleID, ifMatch string) (posture.Rule, error) {
	r, err := b.Rule(ctx, org, id)
	if err != nil {
		return r, err
	}
	if r.Source == posture.Native {
		return r, fault.New(fault.Conflict, "rule %q comes with the product and cannot be deleted; disable it", id)
	}
	r, err = b.Store.DeleteRule(ctx, org, id, ifMatch, b.Now())
	return r.Bind(), err
}

// History returns the versions of a rule, newest first. The first version of a native
// rule is the one of the product and has no author.
func (b *Book) History(ctx context.Context, org posture.OrgID, id posture.RuleID) ([]posture.RuleChange, error) {
	current, err := b.Rule(ctx, org, id)
	if err != nil {
		return nil, err
	}
	versions, err := b.Store.RuleHistory(ctx, org, id)
	for i, v := range versions {
		if v.Rule.Source == posture.Custom {
			versions[i].Rule = v.Rule.Bind()
		}
	}
	if err != nil || current.Source != posture.Native {
		return versions, err
	}
	i := slices.IndexFunc(b.Catalog.Rules, func(e catalog.Entry) bool { return e.ID == id })
	first := b.Catalog.Rules[i].Rule
	return append(versions, posture.RuleChange{Version: first.Version, At: first.Updated, Rule: first}), nil
}

// check reports all errors in a custom rule.
func (b *Book) check(ctx context.Context, org posture.OrgID, r posture.Rule) error {
	bad := fault.Details(r.Validate())
	for _, q := range []struct {
		path  string
		query posture.RuleQuery
	}{{"query", r.Query}, {"visualizationQuery", r.Visualization}} {
		if err := CheckQuery(q.query); err != nil {
			bad = append(bad, queryfault.Detail(q.path, err.Error(), err))
		}
	}
	bad = append(bad, checkParameters(r)...)
	frameworks, err := b.Frameworks(ctx, org)
	if err != nil {
		return err
	}
	known := controls(frameworks)
	for i, id := range r.Controls {
		if !known[id] {
			bad = append(bad, fault.Detail{Path: fmt.Sprintf("complianceControlIds[%d]", i), Message: "is not a control of a framework"})
		}
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

// checkParameters reports invalid parameters of a rule, and variables of its query that
// are not parameters.
func checkParameters(r posture.Rule) (bad []fault.Detail) {
	for i, p := range r.Parameters {
		if err := p.Validate(); err != nil {
			bad = append(bad, fault.Detail{Path: fmt.Sprintf("parameters[%d]", i), Message: err.Error()})
		}
	}
	if r.Query.Language != posture.GraphQuery {
		if len(r.Parameters) > 0 {
			bad = append(bad, fault.Detail{Path: "parameters", Message: "are for queries in Gremlin"})
		}
		return bad
	}
	plan, err := gremlin.Compile(r.Query.Text, gremlin.CompileOptions{Budget: gremlin.RuleBudget})
	if err != nil {
		return bad // CheckQuery reports the error
	}
	if err := r.CheckVariables(plan.Variables()); err != nil {
		bad = append(bad, fault.Detail{Path: "query", Message: err.Error()})
	}
	return bad
}

// CheckQuery fails if a rule's query does not compile. The error has the line and the
// column.
func CheckQuery(q posture.RuleQuery) error {
	text := strings.ReplaceAll(q.Text, posture.EntityClause, posture.EntityClauseSample)
	switch {
	case strings.TrimSpace(text) == "":
		return nil
	case q.Language == posture.SearchQuery:
		_, err := search.Parse(text)
		return userError(err)
	}
	_, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.RuleBudget})
	return userError(err)
}

// userError prefixes a compilation error. It keeps the text, which concerns the caller's
// own query.
func userError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("does not compile: %w", err)
}

// Frameworks returns the built-in frameworks and the organisation's own.
func (b *Book) Frameworks(ctx context.Context, org posture.OrgID) ([]posture.Framework, error) {
	custom, err := b.Store.Frameworks(ctx, org)
	return append(slices.Clone(b.Catalog.Frameworks), custom...), err
}

// Framework returns a framework, or fault.NotFound.
func (b *Book) Framework(ctx context.Context, org posture.OrgID, id string) (posture.Framework, error) {
	all, err := b.Frameworks(ctx, org)
	if err != nil {
		return posture.Framework{}, err
	}
	i := slices.IndexFunc(all, func(f posture.Framework) bool { return f.ID == id })
	if i < 0 {
		return posture.Framework{}, fault.New(fault.NotFound, "compliance framework %q was not found", id)
	}
	return all[i], nil
}

// SaveFramework adds or replaces an organisation's own framework.
func (b *Book) SaveFramework(ctx context.Context, org posture.OrgID, f posture.Framework) (posture.Framework, error) {
	if slices.ContainsFunc(b.Catalog.Frameworks, func(native posture.Framework) bool { return native.ID == f.ID }) {
		return f, fault.New(fault.Conflict, "compliance framework %q comes with the product", f.ID)
	}
	old, err := b.Framework(ctx, org, f.ID)
	isNew := fault.Is(err, fault.NotFound)
	if err != nil && !isNew {
		return f, err
	}
	if isNew && strings.Contains(f.ID, "_") {
		return f, fault.Field("framework_id", "must not contain _, which separates the framework from the control in complianceControlIds")
	}
	seen := map[string]bool{}
	for i, c := range f.Controls {
		if c.ID == "" || seen[c.ID] {
			return f, fault.Field(fmt.Sprintf("controls[%d].controlId", i), "is missing or a duplicate")
		}
		seen[c.ID] = true
	}
	f.Custom, f.Created, f.Updated = true, b.Now(), b.Now()
	if !isNew {
		f.Created = old.Created
	}
	return f, b.Store.SaveFramework(ctx, org, f)
}

// RulesOf returns, for each control of a framework, the rules that check it.
func RulesOf(f posture.Framework, rules []posture.Rule) map[string][]posture.RuleID {
	rulesOf := map[string][]posture.RuleID{}
	for _, r := range rules {
		for _, c := range r.Controls {
			if control, ok := strings.CutPrefix(c, f.ID+"_"); ok {
				rulesOf[control] = append(rulesOf[control], r.ID)
			}
		}
	}
	return rulesOf
}

func controls(frameworks []posture.Framework) map[string]bool {
	return (&catalog.Catalog{Frameworks: frameworks}).Controls()
}
