package posture

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
)

// AccountID is the provider's own name of an account, subscription or project.
type AccountID string

// AccountStatus says how far an account's onboarding has come.
type AccountStatus string

// The account statuses.
const (
	AccountDraft            AccountStatus = "draft"
	AccountActive           AccountStatus = "active"
	AccountValidationFailed AccountStatus = "validation-failed"
	AccountDenyAccess       AccountStatus = "deny-access"
)

// AccountStatuses lists them.
var AccountStatuses = []AccountStatus{AccountActive, AccountDraft, AccountValidationFailed, AccountDenyAccess}

// StreamStatus says whether an account's event stream reaches us.
type StreamStatus string

// The stream statuses.
const (
	StreamConnected    StreamStatus = "connected"
	StreamDisconnected StreamStatus = "disconnected"
)

// StreamStatuses lists them.
var StreamStatuses = []StreamStatus{StreamConnected, StreamDisconnected}

// RollupStatus sums an account up in one word.
type RollupStatus string

// The rollup statuses.
const (
	RollupDraft   RollupStatus = "draft"
	RollupError   RollupStatus = "error"
	RollupHealthy RollupStatus = "healthy"
	RollupReview  RollupStatus = "review"
)

// RollupStatuses lists them.
var RollupStatuses = []RollupStatus{RollupDraft, RollupError, RollupHealthy, RollupReview}

// A Stamped value knows when it last changed.
type Stamped[T comparable] struct {
	Value T
	Since time.Time
}

// Set changes the value, and its time only when the value is another.
func (s *Stamped[T]) Set(v T, now time.Time) {
	if s.Value != v || s.Since.IsZero() {
		*s = Stamped[T]{v, now}
	}
}

// Owner is whom to ask about an account.
type Owner struct {
	Name  string
	Email string
}

// An Account is one cloud account, subscription or project of an organisation.
type Account struct {
	ID           AccountID
	Name         string
	CSPProjectID string
	Provider     Provider
	Environment  *string
	Owner        *Owner
	Status       Stamped[AccountStatus]
	Stream       Stamped[StreamStatus]
	Rollup       Stamped[RollupStatus]
	Properties   []Property // as shown: the ID property first, in its response spelling
	Tags         map[string]string
	ETag         string
	Created      time.Time
	Updated      time.Time

	// Reason says in words why the status is what it is, where there is more to
	// say.
	Reason string
	// LastRun is how the last collection ended; empty before the first has.
	LastRun RunStatus
	// StreamSeen is set once the event stream has been connected: losing it is
	// then worth a review.
	StreamSeen bool
}

// Given is a member that a caller may leave out.
type Given[T any] struct {
	Set   bool
	Value T
}

// Give returns a member that was given.
func Give[T any](v T) Given[T] { return Given[T]{true, v} }

// into replaces *dst when the member was given.
func (g Given[T]) into(dst *T) {
	if g.Set {
		*dst = g.Value
	}
}

// AccountSpec is what a caller says of an account when adding or changing it.
// Members left out keep what is there.
type AccountSpec struct {
	Name         string
	CSPProjectID Given[string]
	Environment  Given[*string]
	Owner        Given[*Owner]
	Properties   Given[[]Property]
	Tags         Given[map[string]string]
}

// Names of account properties, as shown.
const (
	propAccountType = "AccountType"
	propIsRoot      = "IsRoot"
	propRoot        = "RootCloudAccountId"
	propLegacyID    = "LegacyCloudAccountID"
)

// accountForm says how a provider names and writes its account ids.
type accountForm struct {
	given, shown string // the ID property when adding, and in answers
	pattern      *regexp.Regexp
	describe     string
	legacy       bool // answers carry LegacyCloudAccountID
}

var accountForms = map[Provider]accountForm{
	AWS:   {"accountId", "AccountID", regexp.MustCompile(`^[0-9]{12}$`), "must be an AWS account id of 12 digits", true},
	Azure: {"subscriptionId", "SubscriptionID", uuidPattern, "must be an Azure subscription id, a UUID", true},
	GCP:   {"projectId", "ProjectId", regexp.MustCompile(`^[a-z0-9-]{6,30}$`), "must be a GCP project id of 6 to 30 of a-z, 0-9 and hyphen", false},
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// AccountIDOf returns the account id that a spec's properties name, or blames
// the property that does not.
func AccountIDOf(p Provider, properties []Property) (AccountID, error) {
	form := accountForms[p]
	prop, i := lookup(properties, form.given)
	if i < 0 {
		return "", fault.Field("properties", "must have the property %s", form.given)
	}
	if !form.pattern.MatchString(prop.String) {
		return "", fault.Fields(at(i, "stringV", form.describe))
	}
	if p == Azure { // Azure compares them without case, so one spelling is kept
		return AccountID(strings.ToLower(prop.String)), nil
	}
	return AccountID(prop.String), nil
}

// NewAccount returns the draft account that a spec asks for.
func NewAccount(org OrgID, p Provider, spec AccountSpec, now time.Time) (Account, error) {
	id, err := AccountIDOf(p, spec.Properties.Value)
	if err != nil {
		return Account{}, err
	}
	spec.Properties.Set = true
	return Account{
		ID: id, Provider: p, Created: now,
		Status: Stamped[AccountStatus]{AccountDraft, now},
		Stream: Stamped[StreamStatus]{StreamDisconnected, now},
		Rollup: Stamped[RollupStatus]{RollupDraft, now},
	}.Changed(org, spec, now)
}

// Changed returns the account as spec wants it. The ID property stays.
func (a Account) Changed(org OrgID, spec AccountSpec, now time.Time) (Account, error) {
	if strings.TrimSpace(spec.Name) == "" {
		return Account{}, fault.Field("cloudAccountName", "must not be empty")
	}
	if spec.Properties.Set {
		shown, err := a.shownProperties(org, spec.Properties.Value)
		if err != nil {
			return Account{}, err
		}
		a.Properties = shown
	}
	a.Name = spec.Name
	spec.CSPProjectID.into(&a.CSPProjectID)
	if a.CSPProjectID == "" {
		a.CSPProjectID = "default"
	}
	spec.Environment.into(&a.Environment)
	spec.Owner.into(&a.Owner)
	spec.Tags.into(&a.Tags)
	return a.touched(now), nil
}

// shownProperties checks the properties a caller gives and returns them as
// answers show them.
func (a Account) shownProperties(org OrgID, given []Property) ([]Property, error) {
	form := accountForms[a.Provider]
	shown := []Property{Text(form.shown, string(a.ID))}
	if form.legacy {
		shown = append(shown, Text(propLegacyID, legacyID(org, a.Provider, a.ID)))
	}
	bad := twice(given)
	for i, p := range given {
		switch {
		case strings.EqualFold(p.Name, form.given), strings.EqualFold(p.Name, form.shown):
			if !strings.EqualFold(p.String, string(a.ID)) {
				bad = append(bad, at(i, "stringV", "must be "+strconv.Quote(string(a.ID))+", the id of the account"))
			}
		case strings.EqualFold(p.Name, propLegacyID): // assigned by us, so a GET can be put back
		case p.Name == "":
			bad = append(bad, at(i, "name", "must not be empty"))
		default:
			p, problem := accountProperty(p)
			if problem != nil {
				bad = append(bad, at(i, problem.Path, problem.Message))
			}
			shown = append(shown, p)
		}
	}
	if root, i := lookup(given, propRoot); i >= 0 && root.String == string(a.ID) {
		bad = append(bad, at(i, "stringV", "must name another account"))
	}
	if _, i := lookup(shown, propAccountType); a.Provider == Azure && i < 0 {
		shown = append(shown, Text(propAccountType, "Commercial"))
	}
	if len(bad) > 0 {
		return nil, fault.Fields(bad...)
	}
	return shown, nil
}

// accountProperty checks one of the properties used in onboarding and gives it
// its canonical spelling. Others are kept as they are.
func accountProperty(p Property) (Property, *fault.Detail) {
	switch {
	case strings.EqualFold(p.Name, propAccountType):
		v, ok := fold(p.String, []string{"Commercial", "Government"})
		if p.Type != StringProperty || !ok {
			return p, &fault.Detail{Path: "stringV", Message: "must be Commercial or Government"}
		}
		return Text(propAccountType, v), nil
	case strings.EqualFold(p.Name, propIsRoot):
		if p.Type != BoolProperty {
			return p, &fault.Detail{Path: "type", Message: "must be bool"}
		}
		return Flag(propIsRoot, p.Bool), nil
	case strings.EqualFold(p.Name, propRoot):
		if p.Type != StringProperty || p.String == "" {
			return p, &fault.Detail{Path: "stringV", Message: "must be the id of the root account"}
		}
		return Text(propRoot, p.String), nil
	}
	return p, nil
}

// IsRoot reports whether the account is the root of an AWS organisation.
func (a Account) IsRoot() bool {
	p, _ := lookup(a.Properties, propIsRoot)
	return a.Provider == AWS && p.Bool
}

// Root returns the root account that the account says it is a member of.
func (a Account) Root() AccountID {
	p, _ := lookup(a.Properties, propRoot)
	return AccountID(p.String)
}

// Government reports whether an Azure subscription lives in the government cloud.
func (a Account) Government() bool {
	p, _ := lookup(a.Properties, propAccountType)
	return p.String == "Government"
}

// RootProperty returns the index in properties of the one that names a root
// account, to blame it.
func RootProperty(properties []Property) int {
	_, i := lookup(properties, propRoot)
	return i
}

// WithStatus returns the account with another account status, the reason for it
// and the rollup that follows from it.
func (a Account) WithStatus(s AccountStatus, reason string, now time.Time) Account {
	a.Status.Set(s, now)
	a.Reason = reason
	return a.rolled(now)
}

// WithRun returns the account after a collection ended.
func (a Account) WithRun(s RunStatus, now time.Time) Account {
	a.LastRun = s
	return a.rolled(now)
}

// WithStream returns the account with its event stream connected or not.
func (a Account) WithStream(s StreamStatus, now time.Time) Account {
	a.Stream.Set(s, now)
	a.StreamSeen = a.StreamSeen || s == StreamConnected
	return a.rolled(now)
}

func (a Account) rolled(now time.Time) Account {
	a.Rollup.Set(Rollup(a.Status.Value, a.LastRun, a.StreamSeen && a.Stream.Value == StreamDisconnected), now)
	return a.touched(now)
}

func (a Account) touched(now time.Time) Account {
	a.ETag, a.Updated = NewETag(), now
	return a
}

// Rollup sums an account up. streamLost says that its event stream was
// connected once and is not now.
func Rollup(status AccountStatus, lastRun RunStatus, streamLost bool) RollupStatus {
	switch {
	case status == AccountDraft:
		return RollupDraft
	case status != AccountActive, lastRun == RunFailed, lastRun == RunTimeout:
		return RollupError
	case lastRun == RunCompletedWithErrors, streamLost:
		return RollupReview
	default:
		return RollupHealthy
	}
}

// CheckVersion fails with fault.Stale unless the version a caller wants to
// change, when it names one, is the current one.
func (a Account) CheckVersion(wanted string) error { return checkVersion(a.ETag, wanted) }

// legacyID is the same whenever the same account is added again, and differs
// between organisations, so that neither learns of the other.
func legacyID(org OrgID, p Provider, id AccountID) string {
	sum := sha256.Sum256([]byte(string(org) + "\x00" + string(p) + "\x00" + string(id)))
	return hex.EncodeToString(sum[:12])
}
