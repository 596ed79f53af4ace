package posture

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// MuteRuleID identifies a mute rule.
type MuteRuleID string

// The limits of mute rules.
const (
	// MaxMuteRules limits the mute rules of an organisation, because each new finding
	// is matched against all of them.
	MaxMuteRules = 500

	// MaxMuted limits the open findings that one change of a mute rule may suppress.
	MaxMuted = 100_000

	// MuteSamples is the number of findings in a preview.
	MuteSamples = 20
)

// A MuteRule suppresses the findings in its scope: those that are open when it is
// added, and those that are created while it is in force. When it expires or is
// deleted, the suppressions end.
type MuteRule struct {
	ID      MuteRuleID
	Name    string
	Scope   MuteScope
	Reason  string
	By      string    // user who stored it last
	Until   time.Time // zero for no end
	ETag    string
	Created time.Time
	Updated time.Time
}

// InForce reports whether the rule is in force at a time.
func (m MuteRule) InForce(at time.Time) bool { return m.Until.IsZero() || at.Before(m.Until) }

// Suppression returns the suppression of a finding by the rule at a time.
func (m MuteRule) Suppression(at time.Time) *Suppression {
	return &Suppression{By: m.By, Reason: m.Reason, Since: at, Until: m.Until, MuteRule: m.ID}
}

// A MuteScope selects findings. Empty members select all, but at least one member must
// be set: a scope that mutes everything is most likely a mistake.
type MuteScope struct {
	Rules     []RuleID
	Accounts  []AccountID
	Tags      map[string][]string // each name must have one of its values
	Resources []string            // patterns of entity ids, names or the cloud's identifiers: * matches any text, ? one character
}

// IsZero reports whether the scope selects every finding.
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
	// The tags of a finding are compared in the same way as those of an account.
	if !(AccountFilter{Tags: s.Tags}).Matches(Account{Tags: f.Tags}) {
		return false
	}
	return len(s.Resources) == 0 || slices.ContainsFunc(s.Resources, func(p string) bool {
		return MatchPattern(p, string(f.Object)) || MatchPattern(p, f.XID) || MatchPattern(p, f.Name) || MatchPattern(p, f.ObjectID())
	})
}

// MatchPattern reports whether a pattern matches the whole text, ignoring case: *
// matches any text and ? one character.
func MatchPattern(pattern, text string) bool {
	ok, err := path.Match(patternEscaper.Replace(strings.ToLower(pattern)), strings.ReplaceAll(strings.ToLower(text), "/", "\x01"))
	return err == nil && ok
}

// patternEscaper converts a pattern for [path.Match]. It replaces slashes, which *
// would not match there and which ARNs and Azure ids contain, and escapes brackets and
// backslashes.
var patternEscaper = strings.NewReplacer("/", "\x01", `\`, `\\`, "[", `\[`, "]", `\]`)

// A MutePreview counts the findings that a mute rule would suppress.
type MutePreview struct {
	Matched    int                  // open findings in the scope
	Suppressed int                  // those of the matched that are suppressed already
	ByLevel    map[FindingLevel]int // the matched findings
	Sample     []Finding            // the matched findings with the highest risk
}

// MuteStore stores mute rules.
//
// Methods are safe for concurrent use. Records of other organisations are reported as
// not found.
type MuteStore interface {
	// MuteRules returns the mute rules of an organisation, by name.
	MuteRules(ctx context.Context, org OrgID) ([]MuteRule, error)

	// MuteRule returns a mute rule, or fault.NotFound.
	MuteRule(ctx context.Context, org OrgID, id MuteRuleID) (MuteRule, error)

	// PreviewMute returns the findings that a scope would suppress.
	PreviewMute(ctx context.Context, org OrgID, s MuteScope, now time.Time) (MutePreview, error)

	// AddMuteRule adds a mute rule and suppresses the open findings in its scope that
	// are not suppressed, or are suppressed by a mute rule that ends earlier. It returns
	// their number. It fails with fault.Conflict if there are MaxMuteRules already, and
	// with fault.Invalid if more than MaxMuted findings would be suppressed.
	AddMuteRule(ctx context.Context, org OrgID, m MuteRule) (changed int, err error)

	// ReplaceMuteRule replaces a mute rule if check accepts its ETag, and suppresses
	// findings as AddMuteRule does. Findings that left the scope are transferred to
	// another mute rule that matches them; if there is none, their suppression ends.
	// Findings that stay in the scope are transferred as well if another mute rule that
	// matches them ends later than the new one. A suppression that would differ only in
	// its beginning is unchanged. ReplaceMuteRule returns the new rule and how many
	// findings changed.
	ReplaceMuteRule(ctx context.Context, org OrgID, m MuteRule, check func(etag string) error) (changed int, now MuteRule, err error)

	// DeleteMuteRule deletes a mute rule if check accepts its ETag. Findings that the rule
	// suppressed are transferred to another mute rule that matches them; if there is none,
	// their suppression ends. DeleteMuteRule returns the deleted rule and how many findings
	// changed.
	DeleteMuteRule(ctx context.Context, org OrgID, id MuteRuleID, check func(etag string) error, at time.Time) (changed int, old MuteRule, err error)
}

// MuteRuleNotFound returns the error for a mute rule that does not exist.
func MuteRuleNotFound(id MuteRuleID) error {
	return fault.New(fault.NotFound, "mute rule %q was not found", id)
}
