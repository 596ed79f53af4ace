package posture

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// RuleID identifies a rule. Native rules have the same id in every organisation.
type RuleID string

// RuleStatus says whether a rule is evaluated.
type RuleStatus string

// The rule statuses.
const (
	RuleEnabled  RuleStatus = "Enabled"
	RuleDisabled RuleStatus = "Disabled"
)

// RuleStatuses lists the rule statuses.
var RuleStatuses = []RuleStatus{RuleEnabled, RuleDisabled}

// RuleLevel is the severity of a violation.
type RuleLevel string

// The levels of rules. Findings spell the middle one Medium.
const (
	High RuleLevel = "High"
	Med  RuleLevel = "Med"
	Low  RuleLevel = "Low"
)

// RuleLevels lists the rule levels.
var RuleLevels = []RuleLevel{High, Med, Low}

// RuleSource says where a rule comes from.
type RuleSource string

// The rule sources. Native rules come with the product: only some members can be
// changed, and they cannot be deleted.
const (
	Native RuleSource = "Native"
	Custom RuleSource = "Custom"
)

// RuleSources lists the rule sources.
var RuleSources = []RuleSource{Native, Custom}

// The query languages of rules.
const (
	GraphQuery  = "Graph"  // Gremlin
	SearchQuery = "Search" // the search language of entities
)

// A RuleQuery is a query and its language.
type RuleQuery struct {
	Language string
	Text     string
	// Bound holds the values of the query's variables: a [Binding]. It is JSON, because
	// queries with a map could not be compared with ==. [Rule.Bind] sets it.
	Bound string `json:"-"`
}

// EntityClause is the placeholder for the entity in a visualization query.
const EntityClause = "<entity_id_clause>"

// EntityClauseSample stands for [EntityClause] in a query that is only compiled. The two have
// the same length. Columns of errors are therefore those in the query of the user.
const EntityClauseSample = "hasId('xxxxxxxxx')"

// A Rule defines a violation by a query. Every vertex that the query returns violates
// the rule.
type Rule struct {
	ID                RuleID
	Name              string
	DisplayName       string
	Description       string
	SuggestedAction   string
	DocumentationLink string
	Status            RuleStatus
	Source            RuleSource
	Category          string
	Provider          Provider
	Service           string
	Level             RuleLevel
	Query             RuleQuery
	Visualization     RuleQuery
	Controls          []string            // <framework id>_<control id>
	Unconfirmed       []string            `json:"-"` // controls of native rules that were assigned by the category of the rule; no published mapping confirms them
	Resources         map[string]string   // names of linked resources, by link
	Parameters        []RuleParameter     `json:",omitempty"`
	Values            map[string]any      `json:",omitempty"` // of parameters that were set
	Table             *VersionTable       `json:"-"`          // of native rules that compare versions
	Triggers          map[string][]string // of native rules: names of the events of all types that the query reads, by source
	Tags              map[string]string
	InventoryProvider string // has no effect: clients set it in new rules and read it; in native rules, the same as Provider
	Version           int    // starts at 1, incremented by every change
	ETag              string
	Created           time.Time
	Updated           time.Time
}

// MaxResources is how many resource links a rule may have.
const MaxResources = 3

// RulePatch is a partial change of a rule. Members that are not set keep their values.
type RulePatch struct {
	Status    Given[RuleStatus]
	Category  Given[string]
	Level     Given[RuleLevel]
	Tags      Given[map[string]string]
	Resources Given[map[string]string]
	Values    map[string]any // by parameter; a nil value restores the default

	// Allowed for custom rules only.
	Name, DisplayName, Description, SuggestedAction, DocumentationLink Given[string]
	Service                                                            Given[string]
	Query, Visualization                                               Given[RuleQuery]
	Controls                                                           Given[[]string]
}

// customOnly returns the paths of the members that are set although only patches of custom
// rules may set them.
func (p RulePatch) customOnly() (paths []string) {
	for _, m := range []struct {
		path  string
		given bool
	}{
		{"name", p.Name.Set}, {"displayName", p.DisplayName.Set}, {"description", p.Description.Set}, {"suggestedAction", p.SuggestedAction.Set},
		{"documentationLink", p.DocumentationLink.Set}, {"service", p.Service.Set}, {"query", p.Query.Set},
		{"visualizationQuery", p.Visualization.Set}, {"complianceControlIds", p.Controls.Set},
	} {
		if m.given {
			paths = append(paths, m.path)
		}
	}
	return paths
}

// Patched returns the rule with a patch applied.
func (r Rule) Patched(p RulePatch, now time.Time) (Rule, error) {
	p.Status.setIfGiven(&r.Status)
	p.Category.setIfGiven(&r.Category)
	p.Level.setIfGiven(&r.Level)
	p.Tags.setIfGiven(&r.Tags)
	p.Resources.setIfGiven(&r.Resources)
	if r.Source == Native {
		var bad []fault.Detail
		for _, path := range p.customOnly() {
			bad = append(bad, fault.Detail{Path: path, Message: "cannot be changed in a rule that comes with the product; make a copy"})
		}
		if len(bad) > 0 {
			return r, fault.Fields(bad...)
		}
	}
	p.Name.setIfGiven(&r.Name)
	p.DisplayName.setIfGiven(&r.DisplayName)
	p.Description.setIfGiven(&r.Description)
	p.SuggestedAction.setIfGiven(&r.SuggestedAction)
	p.DocumentationLink.setIfGiven(&r.DocumentationLink)
	p.Service.setIfGiven(&r.Service)
	p.Query.setIfGiven(&r.Query)
	p.Visualization.setIfGiven(&r.Visualization)
	p.Controls.setIfGiven(&r.Controls)
	if strings.TrimSpace(r.Category) == "" {
		return r, fault.Field("category", "must not be empty")
	}
	if err := checkResources(r.Resources); err != nil {
		return r, err
	}
	r, err := r.WithValues(p.Values)
	if err != nil {
		return r, err
	}
	r.Version++
	r.ETag, r.Updated = NewETag(), now
	return r, nil
}

// CheckVersion fails with fault.Stale unless required matches the ETag of the rule. The
// empty text and "*" match every ETag, a comma-separated list those in it.
func (r Rule) CheckVersion(required string) error { return checkVersion(r.ETag, required) }

// Validate checks a rule except for its queries and controls, which need the query
// parsers and the framework catalogue.
func (r Rule) Validate() error {
	var bad []fault.Detail
	for _, required := range []struct{ path, value string }{
		{"name", r.Name}, {"displayName", r.DisplayName}, {"category", r.Category}, {"service", r.Service}, {"query", r.Query.Text},
	} {
		if strings.TrimSpace(required.value) == "" {
			bad = append(bad, fault.Detail{Path: required.path, Message: "is missing"})
		}
	}
	if strings.ContainsFunc(r.DisplayName, isSpace) {
		bad = append(bad, fault.Detail{Path: "displayName", Message: "must not contain spaces; use hyphens"})
	}
	if r.Visualization.Text != "" && !strings.Contains(r.Visualization.Text, EntityClause) {
		bad = append(bad, fault.Detail{Path: "visualizationQuery", Message: "must contain " + EntityClause})
	}
	if r.DocumentationLink != "" && !isLink(r.DocumentationLink) {
		bad = append(bad, fault.Detail{Path: "documentationLink", Message: "must be an http or https address"})
	}
	if err := checkResources(r.Resources); err != nil {
		bad = append(bad, fault.Details(err)...)
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

func isSpace(c rune) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLink(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func checkResources(resources map[string]string) error {
	if len(resources) > MaxResources {
		return fault.Field("resources", "has %d links; a rule takes %d", len(resources), MaxResources)
	}
	for _, link := range slices.Sorted(maps.Keys(resources)) {
		if !isLink(link) {
			return fault.Field("resources", "has the link %q, which is not an http or https address", link)
		}
	}
	return nil
}

// FindingLevel returns the level of the rule's findings.
func (l RuleLevel) FindingLevel() FindingLevel {
	if l == Med {
		return LevelMedium
	}
	return FindingLevel(l)
}

// RuleFilter selects rules. Empty members do not filter. Values are compared ignoring
// case.
type RuleFilter struct {
	IDs        []RuleID
	Providers  []Provider
	Services   []string
	Levels     []RuleLevel
	Statuses   []RuleStatus
	Sources    []RuleSource
	Categories []string
	Frameworks []string
	Controls   []string // <framework id>_<control id>
	Text       string   // a substring of name, display name or description
}

// Matches reports whether the filter selects the rule.
func (f RuleFilter) Matches(r Rule) bool {
	isOfFramework := func(control string) bool {
		return slices.ContainsFunc(f.Frameworks, func(id string) bool {
			prefix := id + "_"
			return len(control) >= len(prefix) && strings.EqualFold(control[:len(prefix)], prefix)
		})
	}
	isSelected := func(control string) bool { return isEmptyOrContains(f.Controls, control) }
	return isEmptyOrContains(f.IDs, r.ID) && isEmptyOrContains(f.Providers, r.Provider) && isEmptyOrContains(f.Services, r.Service) && isEmptyOrContains(f.Levels, r.Level) &&
		isEmptyOrContains(f.Statuses, r.Status) && isEmptyOrContains(f.Sources, r.Source) && isEmptyOrContains(f.Categories, r.Category) &&
		(len(f.Frameworks) == 0 || slices.ContainsFunc(r.Controls, isOfFramework)) &&
		(len(f.Controls) == 0 || slices.ContainsFunc(r.Controls, isSelected)) &&
		(f.Text == "" || strings.Contains(strings.ToLower(r.Name+"\n"+r.DisplayName+"\n"+r.Description), strings.ToLower(f.Text)))
}

// A RuleChange is one version of a rule.
type RuleChange struct {
	Version int
	At      time.Time
	By      string // user who changed it
	Rule    Rule
}

// RuleStore stores custom rules and the changes of native ones by organisation. Several
// processes may share it.
type RuleStore interface {
	// Rules returns the organisation's custom rules and the native rules that it has
	// changed. All members of a changed native rule are set. The generation increases
	// with every change.
	Rules(ctx context.Context, org OrgID) (rules map[RuleID]Rule, generation int64, err error)

	// RuleGeneration returns the generation of the organisation's rules, 0 before the
	// first change.
	RuleGeneration(ctx context.Context, org OrgID) (int64, error)

	// SaveRule stores a rule, its history and the evaluation jobs that the change needs
	// in one transaction. It fails with fault.Conflict if r has version 1 and a rule with
	// its id exists. If r has a later version, it fails with fault.Stale unless the
	// stored rule has the previous version. The version of an unchanged native rule is 1.
	SaveRule(ctx context.Context, org OrgID, r Rule, actor string) error

	// DeleteRule deletes a custom rule, resolves its findings, and returns it. It fails
	// with fault.NotFound if there is no such rule.
	DeleteRule(ctx context.Context, org OrgID, id RuleID, ifMatch string, now time.Time) (Rule, error)

	// RuleHistory returns the stored versions of a rule, newest first. A native rule
	// that was never changed has none.
	RuleHistory(ctx context.Context, org OrgID, id RuleID) ([]RuleChange, error)
}

// RuleNotFound returns the error for a rule that does not exist.
func RuleNotFound(id RuleID) error { return fault.New(fault.NotFound, "rule %q was not found", id) }

func (q RuleQuery) String() string { return fmt.Sprintf("%s %q", q.Language, q.Text) }
