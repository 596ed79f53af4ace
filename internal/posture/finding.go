package posture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// FindingID names a finding. It is derived from the organisation, the rule and
// the entity, so that the same violation found again is the same finding.
type FindingID string

// NewFindingID returns the id of the finding that an entity violates a rule.
func NewFindingID(org OrgID, rule RuleID, entity EntityID) FindingID {
	sum := sha256.Sum256([]byte(string(org) + "\x00" + string(rule) + "\x00" + string(entity)))
	return FindingID(hex.EncodeToString(sum[:16]))
}

// FindingStatus says whether a violation is there.
type FindingStatus string

// The finding statuses.
const (
	FindingOpen     FindingStatus = "Open"
	FindingResolved FindingStatus = "Resolved"
)

// FindingStatuses lists them.
var FindingStatuses = []FindingStatus{FindingOpen, FindingResolved}

// FindingLevel is how bad a finding is.
type FindingLevel string

// The levels of findings.
const (
	LevelHigh   FindingLevel = "High"
	LevelMedium FindingLevel = "Medium"
	LevelLow    FindingLevel = "Low"
)

// FindingLevels lists them.
var FindingLevels = []FindingLevel{LevelHigh, LevelMedium, LevelLow}

// A Finding says that an entity violates a rule, or did.
type Finding struct {
	ID          FindingID
	Rule        RuleID
	Account     AccountID
	Provider    Provider
	Object      EntityID
	Type        EntityType // of the object; ObjectType knows it also where this is empty
	XID         string     // the cloud's own name of the object
	Name        string     // of the object, as people call it
	Service     string
	Region      string
	Level       FindingLevel
	Risk        Risk
	Status      FindingStatus
	Tags        map[string]string // of the object; nil when there are none
	Suppression *Suppression
	Created     time.Time // when it was last raised
	Updated     time.Time
	Resolved    time.Time // zero while it is open
}

// ObjectType is the type of the object.
func (f Finding) ObjectType() EntityType {
	if f.Type != "" {
		return f.Type
	}
	return f.Object.guessType()
}

// ObjectID is the object's own name in its cloud, the last part of its entity
// id: what the cloud's own tools call it.
func (f Finding) ObjectID() string { return f.ObjectType().NameIn(f.Object, f.Account) }

// Suppressed reports whether somebody has put the finding aside for now.
func (f Finding) Suppressed(now time.Time) bool {
	return f.Suppression != nil && (f.Suppression.Until.IsZero() || now.Before(f.Suppression.Until))
}

// A Suppression puts a finding aside. It does not change its status.
type Suppression struct {
	By     string
	Reason string
	Since  time.Time
	Until  time.Time // zero for good

	MuteRule MuteRuleID `json:",omitempty"` // that did it; empty when a person did
}

// A Risk is a score and what it is made of.
type Risk struct {
	Score int // 0 to 100
	Parts []RiskPart
}

// A RiskPart is one reason for a risk score.
type RiskPart struct {
	Name   string // level, exposure or reach
	Points int
	Why    string
}

// A Raised violation is what an evaluation says of one entity.
type Raised struct {
	Finding Finding
	// Blob tells of finding, rule, entity and its neighbours as they are now, as
	// JSON. It is asked for only when that is kept, by one goroutine at a time.
	Blob func() string
}

// A Judgement is the outcome of evaluating rules over one account at one moment.
type Judgement struct {
	Account    AccountID
	Generation int64 // of the account's entities that were judged
	RulesAt    int64 // generation of the organisation's rules; AnyRules for any
	Since      int64 // the judgement of the account that it builds on; 0 for none
	At         time.Time
	Rules      []RuleJudgement
}

// AnyRules is the generation of rules that do not change.
const AnyRules = -1

// A RuleJudgement is what one rule says. Entities that it does not mention pass.
type RuleJudgement struct {
	Rule      RuleID
	Violating []Raised
	Unknown   []EntityID // neither raised nor resolved
	// Only is set when not every entity was judged: findings of others stay as
	// they are.
	Only []EntityID
	// Trusted reports whether the pass of an entity may resolve its finding: the
	// entity is gone from a scope that was read completely, or everything that
	// the rule looks at was.
	Trusted func(EntityID) bool
	// Gone says that the rule itself is disabled or deleted: all its findings
	// are resolved.
	Gone bool
	// Passing is how many of the entities that the rule is about neither violate it
	// nor are unknown, and NotApplicable how many others of their types there are,
	// for the posture summary.
	Passing, NotApplicable int
}

// FindingFilter chooses findings. Empty members do not filter, values are
// compared without regard to case.
type FindingFilter struct {
	Services   []string
	Levels     []FindingLevel
	Accounts   []string
	Providers  []Provider
	Regions    []string
	Rules      []RuleID            // nil for any; empty but not nil for none
	Objects    []string            // entity ids, objects' own names or the clouds' long ids
	Tags       map[string][]string // every name must have one of its values
	Statuses   []FindingStatus
	Suppressed *bool
	Text       string // a part of its ids, names, rule, service or region
	IDs        []FindingID
	MinRisk    int // 0 for any
	Created    Span
	Resolved   Span // findings that are open have no such time
}

// A Span is a stretch of time: from its beginning up to, but without, its end.
// Zero times leave that side open.
type Span struct{ From, To time.Time }

// IsZero reports whether the span is all of time.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// MaxSuppress is how many findings one call may suppress or release.
const MaxSuppress = 10_000

// A FindingSort is one of the orders that findings are sorted by.
type FindingSort struct {
	Field string // as on the wire: riskScore
	Desc  bool
}

// A FindingPage is one page of findings.
type FindingPage struct {
	Findings []Finding
	Total    int
	Next     string // the place of the next page, for Page.After; empty on the last
}

// A Trend is how many findings there were, came and went in each interval.
type Trend struct {
	Start               time.Time
	Open, New, Resolved int
}

// Trends are how findings came and went, all of them and by the values of a
// field.
type Trends struct {
	All    []Trend
	Groups map[string][]Trend // nil when not asked for
}

// A ControlPosture counts the resources that a control is about.
type ControlPosture struct {
	Violating, Passing, Unknown int
	NotApplicable               int // of the types that the rules find, but not what they are about
}

// A RuleVerdict counts what one rule says of one account.
type RuleVerdict struct {
	Rule    RuleID
	Account AccountID
	ControlPosture
}

// FindingStore keeps findings. Any number of processes share it.
//
// Methods are safe for concurrent use. What belongs to another organisation is
// answered as if it did not exist.
type FindingStore interface {
	// Observe records a judgement in one transaction: violations are raised once,
	// refreshed when something of them changed, raised anew when they were
	// resolved (same id, new creation time); open findings that passed and are
	// trusted are resolved. Times move only where something changed. It returns
	// the number of the judgement among those of the account, which grows.
	//
	// A judgement fails with fault.Stale when one of a later generation was
	// recorded, the rules have changed since, or the last one is not the one that
	// it builds on.
	Observe(ctx context.Context, org OrgID, j Judgement) (int64, error)

	// Finding returns a finding and its blob, or fault.NotFound.
	Finding(ctx context.Context, org OrgID, id FindingID) (Finding, string, error)

	// Findings returns one page of the findings that f lets through. A finding
	// that exists unchanged throughout is on one page.
	Findings(ctx context.Context, org OrgID, f FindingFilter, sorts []FindingSort, p Page, now time.Time) (FindingPage, error)

	// AggregateFindings counts the findings that f lets through by what the
	// aggregations ask; attributes are fields of the record as on the wire and
	// tags.
	AggregateFindings(ctx context.Context, org OrgID, f FindingFilter, as map[string]Aggregation, now time.Time) (total int, found map[string]Buckets, err error)

	// Suppress puts a finding aside, or takes it up again when s is nil, and
	// returns it.
	Suppress(ctx context.Context, org OrgID, id FindingID, s *Suppression, now time.Time) (Finding, error)

	// FindingHistory returns when a finding was raised, resolved and suppressed,
	// newest first.
	FindingHistory(ctx context.Context, org OrgID, id FindingID) ([]FindingEvent, error)

	// SuppressAll puts every finding that f lets through aside, or takes them up
	// again when s is nil, in one transaction. It returns how many f let through,
	// and how many of them were changed. It fails with fault.Invalid when there
	// are more than MaxSuppress.
	SuppressAll(ctx context.Context, org OrgID, f FindingFilter, s *Suppression, now time.Time) (matched, changed int, err error)

	// Trends counts by interval: day, week or month. With a field, as on the wire,
	// it also counts by the field's values.
	Trends(ctx context.Context, org OrgID, f FindingFilter, interval, by string, now time.Time) (Trends, error)

	// Verdicts returns what rules said of accounts when they were last evaluated,
	// by rule and account. Empty lists do not filter.
	Verdicts(ctx context.Context, org OrgID, rules []RuleID, accounts []AccountID) ([]RuleVerdict, error)

	// Posture counts violating, passing and unknown resources of the given rules.
	Posture(ctx context.Context, org OrgID, rules []RuleID) (map[RuleID]ControlPosture, error)
}

// A FindingEvent is something that happened to a finding.
type FindingEvent struct {
	At   time.Time
	What string // raised, resolved, suppressed, released
	By   string // empty when it was the service
}
