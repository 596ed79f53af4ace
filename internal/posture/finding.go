package posture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"vigil/internal/fault"
)

// FindingID identifies a finding. It is derived from the organisation, the rule and the
// entity, so that a violation that is found again has the same id.
type FindingID string

// NewFindingID returns the id of the finding for a rule and an entity.
func NewFindingID(org OrgID, rule RuleID, entity EntityID) FindingID {
	sum := sha256.Sum256([]byte(string(org) + "\x00" + string(rule) + "\x00" + string(entity)))
	return FindingID(hex.EncodeToString(sum[:16]))
}

// FindingStatus says whether the violation still exists.
type FindingStatus string

// The finding statuses.
const (
	FindingOpen     FindingStatus = "Open"
	FindingResolved FindingStatus = "Resolved"
)

// FindingStatuses lists the finding statuses.
var FindingStatuses = []FindingStatus{FindingOpen, FindingResolved}

// FindingLevel is the severity of a finding.
type FindingLevel string

// The levels of findings.
const (
	LevelHigh   FindingLevel = "High"
	LevelMedium FindingLevel = "Medium"
	LevelLow    FindingLevel = "Low"
)

// FindingLevels lists the levels of findings.
var FindingLevels = []FindingLevel{LevelHigh, LevelMedium, LevelLow}

// A Finding records that an entity violates a rule, or did.
type Finding struct {
	ID          FindingID
	Rule        RuleID
	Account     AccountID
	Provider    Provider
	Object      EntityID
	Type        EntityType // of the object; empty in old records, see ObjectType
	XID         string     // the cloud's identifier of the object
	Name        string     // display name of the object
	Service     string
	Region      string
	Level       FindingLevel
	Risk        Risk
	Status      FindingStatus
	Tags        map[string]string // of the object
	Suppression *Suppression
	Parameters  map[string]any // the rule's parameters as they were when the object was judged; nil when there are none
	Created     time.Time      // when it was last raised
	Updated     time.Time
	Resolved    time.Time // zero while it is open
}

// ObjectType returns the type of the object. It derives it from the id if Type is
// empty.
func (f Finding) ObjectType() EntityType {
	if f.Type != "" {
		return f.Type
	}
	return f.Object.guessType()
}

// ObjectID returns the name of the object in its cloud, which is the last part of its
// entity id.
func (f Finding) ObjectID() string { return f.ObjectType().NameIn(f.Object, f.Account) }

// Suppressed reports whether the finding is suppressed at a time.
func (f Finding) Suppressed(now time.Time) bool {
	return f.Suppression != nil && (f.Suppression.Until.IsZero() || now.Before(f.Suppression.Until))
}

// A Suppression hides a finding from counts and notifications. It does not change the
// finding's status.
type Suppression struct {
	By     string
	Reason string
	Since  time.Time
	Until  time.Time // zero for no end

	MuteRule MuteRuleID `json:",omitempty"` // the mute rule that suppressed it; empty if a person did
}

// IsContinuedBy reports whether two suppressions differ at most in their beginning.
func (s Suppression) IsContinuedBy(next Suppression) bool {
	return s.By == next.By && s.Reason == next.Reason && s.MuteRule == next.MuteRule && s.Until.Equal(next.Until)
}

// A Risk is a score and its parts.
type Risk struct {
	Score int // 0 to 100
	Parts []RiskPart
}

// A RiskPart is one contribution to a risk score.
type RiskPart struct {
	Name   string // level, exposure or reach
	Points int
	Why    string
}

// A Raised is a violation found by an evaluation.
type Raised struct {
	Finding Finding
	// Blob returns a JSON document with the finding, the rule, the entity and its
	// neighbours. The store calls it only if it saves the document, from one goroutine
	// at a time.
	Blob func() string
}

// A Judgement is the result of evaluating rules over one account.
type Judgement struct {
	Account    AccountID
	Generation int64 // of the account's entities that were evaluated
	RulesAt    int64 // generation of the organisation's rules; Observe fails if it has changed, unless it is AnyRules
	Since      int64 // number of the judgement that this one is incremental to; 0 for none
	At         time.Time
	Rules      []RuleJudgement
}

// AnyRules is the value of RulesAt for rules that do not change.
const AnyRules = -1

// A RuleJudgement is the result of one rule. Evaluated entities in neither Violating nor
// Unknown pass, or the rule does not apply to them.
type RuleJudgement struct {
	Rule      RuleID
	Violating []Raised
	Unknown   []EntityID // neither raised nor resolved
	// Only lists the entities that were evaluated; nil if all were. Findings of other
	// entities stay unchanged.
	Only []EntityID
	// Trusted reports whether the finding of an entity that passes may be resolved.
	// That requires that every scope that the rule reads was read completely, or that
	// the entity was deleted from such a scope.
	Trusted func(EntityID) bool
	// Gone means that the rule is disabled or deleted: all its findings are resolved.
	Gone bool
	// Passing counts the entities in the rule's scope that pass, NotApplicable the
	// other entities of the same types. Both are for the posture summary.
	Passing, NotApplicable int
}

// FindingFilter selects findings. Empty members do not filter. Services, accounts, regions,
// tags and Text are compared ignoring case.
type FindingFilter struct {
	Services   []string
	Levels     []FindingLevel
	Accounts   []string
	Providers  []Provider
	Regions    []string
	Rules      []RuleID            // nil for all; empty but not nil for none
	Objects    []string            // entity ids, names in the cloud, or the cloud's identifiers
	Tags       map[string][]string // each name must have one of its values
	Statuses   []FindingStatus
	Suppressed *bool
	Text       string // a substring of ids, names, rule, service, region or level
	IDs        []FindingID
	MinRisk    int // 0 for all
	Created    Span
	Resolved   Span // never matches open findings
}

// A Span is the half-open time interval [From, To). A zero time leaves that side
// unbounded.
type Span struct{ From, To time.Time }

// IsZero reports whether the span is unbounded.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// MaxSuppress is how many findings one call may suppress or unsuppress.
const MaxSuppress = 10_000

// A FindingSort is a sort key of findings.
type FindingSort struct {
	Field string // as in the API: riskScore
	Desc  bool
}

// A FindingPage is one page of findings.
type FindingPage struct {
	Findings []Finding
	Total    int
	Next     string // the cursor for Page.After; empty on the last page
}

// A Trend counts the findings that were open at the end of one interval, and how often
// findings were raised and resolved in it. A finding that is raised again counts again.
type Trend struct {
	Start               time.Time
	Open, New, Resolved int
}

// Trends are the counts of all findings, and by the values of a field.
type Trends struct {
	All    []Trend
	Groups map[string][]Trend // nil if no field was given
}

// A ControlPosture counts the resources that a control applies to.
type ControlPosture struct {
	Violating, Passing, Unknown int
	NotApplicable               int // resources of the rules' types that the rules do not apply to
	// NotListed counts the scopes (type and region) of the rules that could not be
	// listed: their number of resources is unknown. Stores do not keep this count.
	NotListed int
}

// Add returns the sum of two counts.
func (p ControlPosture) Add(o ControlPosture) ControlPosture {
	return ControlPosture{p.Violating + o.Violating, p.Passing + o.Passing, p.Unknown + o.Unknown, p.NotApplicable + o.NotApplicable, p.NotListed + o.NotListed}
}

// A RuleVerdict counts the results of one rule in one account.
type RuleVerdict struct {
	Rule    RuleID
	Account AccountID
	ControlPosture
}

// FindingStore stores findings. Several processes may share it.
//
// Methods are safe for concurrent use. Records of other organisations are reported as
// not found.
type FindingStore interface {
	// Observe records a judgement in one transaction. It creates findings for new
	// violations, updates those that changed, reopens resolved ones (same id, new
	// creation time), and resolves open findings that passed and are trusted. It sets
	// times only on findings that changed. It returns the sequence number of the
	// judgement in the account.
	//
	// Observe fails with fault.Stale if a judgement of a later generation was recorded,
	// if the rules have changed, or if j.Since is set and is not the last judgement.
	Observe(ctx context.Context, org OrgID, j Judgement) (int64, error)

	// Finding returns a finding and its blob, or fault.NotFound.
	Finding(ctx context.Context, org OrgID, id FindingID) (Finding, string, error)

	// Findings returns one page of the findings that f selects. A finding that does not
	// change while a client reads the pages is on exactly one page.
	Findings(ctx context.Context, org OrgID, f FindingFilter, sorts []FindingSort, p Page, now time.Time) (FindingPage, error)

	// AggregateFindings counts the findings that f selects, in total and by the
	// aggregations. Their attributes are tags, or fields named as in the API.
	AggregateFindings(ctx context.Context, org OrgID, f FindingFilter, aggregations map[string]Aggregation, now time.Time) (total int, found map[string]Buckets, err error)

	// FindingAggregationCost returns the number of rows that AggregateFindings reads at
	// most. Counts that are stored cost nothing.
	FindingAggregationCost(ctx context.Context, org OrgID, f FindingFilter, aggregations map[string]Aggregation, now time.Time) (rows int, err error)

	// Suppress suppresses a finding, or ends its suppression if s is nil, and returns
	// the finding. The parameter by is the user that the history records.
	Suppress(ctx context.Context, org OrgID, id FindingID, s *Suppression, by string, now time.Time) (Finding, error)

	// FindingHistory returns the events of a finding, newest first.
	FindingHistory(ctx context.Context, org OrgID, id FindingID) ([]FindingEvent, error)

	// SuppressAll suppresses every finding that f selects, or ends their suppressions
	// if s is nil, in one transaction. The parameter by is the user that the history records. It
	// returns how many f selects and how many of them changed. It fails with
	// fault.Invalid if f selects more than MaxSuppress.
	SuppressAll(ctx context.Context, org OrgID, f FindingFilter, s *Suppression, by string, now time.Time) (matched, changed int, err error)

	// Trends counts findings by interval: day, week or month. If groupBy is the name of a
	// field in the API, it also counts by the values of that field.
	Trends(ctx context.Context, org OrgID, f FindingFilter, interval, groupBy string, now time.Time) (Trends, error)

	// Verdicts returns the results of the last evaluations by rule and account. Empty
	// lists do not filter.
	Verdicts(ctx context.Context, org OrgID, rules []RuleID, accounts []AccountID) ([]RuleVerdict, error)

	// Posture counts violating, passing and unknown resources of the given rules.
	Posture(ctx context.Context, org OrgID, rules []RuleID) (map[RuleID]ControlPosture, error)
}

// A FindingEvent is an entry in the history of a finding.
type FindingEvent struct {
	At   time.Time
	What string // raised, resolved, suppressed, released
	By   string // empty if the server did it

	// Reason says why a finding was resolved although the violation may still exist;
	// empty if it is gone.
	Reason string
}

// RegionNotRead is the reason of findings that are resolved because their region is not
// read any more.
const RegionNotRead = "the region is not read any more"

// FindingNotFound returns the error for a finding that does not exist.
func FindingNotFound(id FindingID) error {
	return fault.New(fault.NotFound, "finding %q was not found", id)
}
