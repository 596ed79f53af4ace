package posture

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// MuteRuleID names a mute rule.
type MuteRuleID string

// The limits of mute rules.
const (
	// MaxMuteRules is how many mute rules one organisation may have. Every
	// finding that is raised is held against all of them.
	MaxMuteRules = 500

	// MaxMuted is how many open findings one change of a mute rule may suppress.
	MaxMuted = 100_000

	// MuteSamples is how many findings a preview shows.
	MuteSamples = 20
)

// A MuteRule suppresses every finding in its scope: those that are open when it
// is added, and those that are raised while it is in force. When it ends, or is
// deleted, they count again.
type MuteRule struct {
	ID      MuteRuleID
	Name    string
	Scope   MuteScope
	Reason  string
	By      string    // who made it
	Until   time.Time // zero for good
	ETag    string
	Created time.Time
	Updated time.Time
}

// InForce reports whether the rule suppresses findings at a time.
func (m MuteRule) InForce(at time.Time) bool { return m.Until.IsZero() || at.Before(m.Until) }

// Suppression is what the rule does to a finding at a time.
func (m MuteRule) Suppression(at time.Time) *Suppression {
	return &Suppression{By: m.By, Reason: m.Reason, Since: at, Until: m.Until, MuteRule: m.ID}
}

// A MuteScope chooses findings. Members that are empty choose all, but not all
// members may be empty: muting everything is hardly meant.
type MuteScope struct {
	Rules     []RuleID
	Accounts  []AccountID
	Tags      map[string][]string // every name must have one of its values
	Resources []string            // patterns of entity ids, names or the clouds' own ids: * is any text, ? one character
}

// IsZero reports whether the scope chooses every finding.
func (s MuteScope) IsZero() bool {
	return len(s.Rules) == 0 && len(s.Accounts) == 0 && len(s.Tags) == 0 && len(s.Resources) == 0
}

// Matches reports whether a finding is in the scope.
func (s MuteScope) Matches(f Finding) bool {
	if len(s.Rules) > 0 && !slices.Contains(s.Rules, f.Rule) {
		return false
	}
	if len(s.Accounts) > 0 && !slices.ContainsFunc(s.Accounts, func(a AccountID) bool { return strings.EqualFold(string(a), string(f.Account)) }) {
		return false
	}
	if !(AccountFilter{Tags: s.Tags}).Matches(Account{Tags: f.Tags}) {
		return false
	}
	return len(s.Resources) == 0 || slices.ContainsFunc(s.Resources, func(p string) bool {
		return MatchPattern(p, string(f.Object)) || MatchPattern(p, f.XID) || MatchPattern(p, f.Name) || MatchPattern(p, f.ObjectID())
	})
}

// MatchPattern reports whether all of a text fits a pattern in which * stands
// for any text and ? for one character. Upper and lower case are the same.
func MatchPattern(pattern, text string) bool {
	ok, err := path.Match(patternEscaper.Replace(strings.ToLower(pattern)), strings.ReplaceAll(strings.ToLower(text), "/", "\x01"))
	return err == nil && ok
}

// patternEscaper makes a pattern one of [path.Match], which keeps * from matching a
// slash, of which ARNs and Azure ids are full, and for which brackets and backslashes
// are no plain characters.
var patternEscaper = strings.NewReplacer("/", "\x01", `\`, `\\`, "[", `\[`, "]", `\]`)

// A MutePreview is what a mute rule would do now.
type MutePreview struct {
	Matched    int                  // open findings in the scope
	Suppressed int                  // of them, those that are suppressed already
	ByLevel    map[FindingLevel]int // the matched ones
	Sample     []Finding            // the matched ones of highest risk
}

// MuteStore keeps mute rules.
//
// Methods are safe for concurrent use. What belongs to another organisation is
// answered as if it did not exist.
type MuteStore interface {
	// MuteRules returns the mute rules of an organisation, by name.
	MuteRules(ctx context.Context, org OrgID) ([]MuteRule, error)

	// MuteRule returns a mute rule, or fault.NotFound.
	MuteRule(ctx context.Context, org OrgID, id MuteRuleID) (MuteRule, error)

	// PreviewMute tells what a scope would suppress.
	PreviewMute(ctx context.Context, org OrgID, s MuteScope, now time.Time) (MutePreview, error)

	// AddMuteRule adds a mute rule and suppresses the open findings in its scope
	// that nobody has suppressed. It returns how many. It fails with fault.Conflict
	// when there are MaxMuteRules, with fault.Invalid when there are more than
	// MaxMuted findings to suppress.
	AddMuteRule(ctx context.Context, org OrgID, m MuteRule) (changed int, err error)

	// ReplaceMuteRule replaces a mute rule whose version check accepts. Findings
	// that left its scope are released. It returns the rule as it is now and how
	// many findings changed.
	ReplaceMuteRule(ctx context.Context, org OrgID, m MuteRule, check func(etag string) error) (changed int, now MuteRule, err error)

	// DeleteMuteRule removes a mute rule whose version check accepts, and releases
	// its findings, unless another mute rule takes them over. It returns the rule
	// and how many findings changed.
	DeleteMuteRule(ctx context.Context, org OrgID, id MuteRuleID, check func(etag string) error, at time.Time) (changed int, was MuteRule, err error)
}

// MuteRuleNotFound is the fault for a mute rule that is not there.
func MuteRuleNotFound(id MuteRuleID) error {
	return fault.New(fault.NotFound, "mute rule %q was not found", id)
}
