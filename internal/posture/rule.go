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

// RuleID names a rule. Those of native rules are the same in every organisation.
type RuleID string

// RuleStatus says whether a rule is evaluated.
type RuleStatus string

// The rule statuses.
const (
	RuleEnabled  RuleStatus = "Enabled"
	RuleDisabled RuleStatus = "Disabled"
)

// RuleStatuses lists them.
var RuleStatuses = []RuleStatus{RuleEnabled, RuleDisabled}

// RuleLevel is how bad a violation is.
type RuleLevel string

// The levels of rules. Findings spell the middle one Medium.
const (
	High RuleLevel = "High"
	Med  RuleLevel = "Med"
	Low  RuleLevel = "Low"
)

// RuleLevels lists them.
var RuleLevels = []RuleLevel{High, Med, Low}

// RuleSource says where a rule comes from.
type RuleSource string

// The rule sources. Native rules come with the product: they can be changed in
// part and not be deleted.
const (
	Native RuleSource = "Native"
	Custom RuleSource = "Custom"
)

// RuleSources lists them.
var RuleSources = []RuleSource{Native, Custom}

// The languages that a rule's query may be in.
const (
	GraphQuery  = "Graph"  // Gremlin
	SearchQuery = "Search" // the search language of entities
)

// A RuleQuery is a query in one of the languages.
type RuleQuery struct {
	Language string
	Text     string
}

// EntityClause in a visualization query stands for the entity to be shown.
const EntityClause = "<entity_id_clause>"

// A Rule says which entities violate something. Every vertex its query returns
// is a violation.
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
	Controls          []string          // <framework id>_<control id>
	Resources         map[string]string // link to name
	Triggers          map[string][]string
	Tags              map[string]string
	InventoryProvider string
	Version           int // 1 at first, one more with every change
	ETag              string
	Created           time.Time
	Updated           time.Time
}

// MaxResources is how many resource links a rule may have.
const MaxResources = 3

// RulePatch is what may be changed of any rule. Members left out stay.
type RulePatch struct {
	Status    Given[RuleStatus]
	Category  Given[string]
	Level     Given[RuleLevel]
	Tags      Given[map[string]string]
	Resources Given[map[string]string]

	// Own rules only: what native ones say comes with the product.
	Name, DisplayName, Description, SuggestedAction, DocumentationLink Given[string]
	Service                                                            Given[string]
	Query, Visualization                                               Given[RuleQuery]
	Controls                                                           Given[[]string]
}

// ownOnly lists the members that are given and that only own rules take.
func (p RulePatch) ownOnly() (paths []string) {
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
	p.Status.into(&r.Status)
	p.Category.into(&r.Category)
	p.Level.into(&r.Level)
	p.Tags.into(&r.Tags)
	p.Resources.into(&r.Resources)
	if r.Source == Native {
		var bad []fault.Detail
		for _, path := range p.ownOnly() {
			bad = append(bad, fault.Detail{Path: path, Message: "cannot be changed in a rule that comes with the product; make a copy"})
		}
		if len(bad) > 0 {
			return r, fault.Fields(bad...)
		}
	}
	p.Name.into(&r.Name)
	p.DisplayName.into(&r.DisplayName)
	p.Description.into(&r.Description)
	p.SuggestedAction.into(&r.SuggestedAction)
	p.DocumentationLink.into(&r.DocumentationLink)
	p.Service.into(&r.Service)
	p.Query.into(&r.Query)
	p.Visualization.into(&r.Visualization)
	p.Controls.into(&r.Controls)
	if strings.TrimSpace(r.Category) == "" {
		return r, fault.Field("category", "must not be empty")
	}
	if err := checkResources(r.Resources); err != nil {
		return r, err
	}
	r.Version++
	r.ETag, r.Updated = NewETag(), now
	return r, nil
}

// CheckVersion fails with fault.Stale unless wanted, when given, is current.
func (r Rule) CheckVersion(wanted string) error { return checkVersion(r.ETag, wanted) }

// Validate reports what is wrong with a rule apart from its queries and
// controls, which only others can judge.
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

// RuleFilter chooses rules. Empty lists do not filter, values are compared
// without regard to case.
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
	Text       string   // a part of name, display name or description
}

// Matches reports whether the filter lets the rule through.
func (f RuleFilter) Matches(r Rule) bool {
	return oneOf(f.IDs, r.ID) && oneOf(f.Providers, r.Provider) && oneOf(f.Services, r.Service) && oneOf(f.Levels, r.Level) &&
		oneOf(f.Statuses, r.Status) && oneOf(f.Sources, r.Source) && oneOf(f.Categories, r.Category) &&
		(len(f.Frameworks) == 0 || slices.ContainsFunc(r.Controls, func(c string) bool {
			return slices.ContainsFunc(f.Frameworks, func(id string) bool { return len(c) > len(id) && strings.EqualFold(c[:len(id)+1], id+"_") })
		})) &&
		(len(f.Controls) == 0 || slices.ContainsFunc(r.Controls, func(c string) bool {
			return slices.ContainsFunc(f.Controls, func(id string) bool { return strings.EqualFold(c, id) })
		})) &&
		(f.Text == "" || strings.Contains(strings.ToLower(r.Name+"\n"+r.DisplayName+"\n"+r.Description), strings.ToLower(f.Text)))
}

// A RuleChange is one version of a rule.
type RuleChange struct {
	Version int
	At      time.Time
	By      string // who changed it
	Rule    Rule
}

// RuleStore keeps what organisations have made of rules: their own ones, and
// their changes to native ones. Any number of processes share it.
type RuleStore interface {
	// Rules returns the organisation's own rules and the native ones it has
	// changed, whole, by id. Generation grows with every change.
	Rules(ctx context.Context, org OrgID) (rules map[RuleID]Rule, generation int64, err error)

	// SaveRule stores a rule and its history in one transaction with the work
	// that the change causes. With a version of 1 it must not exist
	// (fault.Conflict); otherwise the stored version must be the one before
	// (fault.Stale), where a native rule that was never changed has version 1.
	SaveRule(ctx context.Context, org OrgID, r Rule, by string) error

	// DeleteRule removes an own rule, resolves its findings, and returns it as it
	// was. It fails with fault.NotFound without one.
	DeleteRule(ctx context.Context, org OrgID, id RuleID, ifMatch string, now time.Time) (Rule, error)

	// RuleHistory returns the versions of a rule that was ever changed, newest
	// first.
	RuleHistory(ctx context.Context, org OrgID, id RuleID) ([]RuleChange, error)
}

// RuleNotFound says that there is no such rule.
func RuleNotFound(id RuleID) error { return fault.New(fault.NotFound, "rule %q was not found", id) }

func (q RuleQuery) String() string { return fmt.Sprintf("%s %q", q.Language, q.Text) }
