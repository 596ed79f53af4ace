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

// AccountStatuses lists the account statuses.
var AccountStatuses = []AccountStatus{AccountActive, AccountDraft, AccountValidationFailed, AccountDenyAccess}

// StreamStatus says whether the event stream of an account is connected.
type StreamStatus string

// The stream statuses.
const (
	StreamConnected    StreamStatus = "connected"
	StreamDisconnected StreamStatus = "disconnected"
)

// StreamStatuses lists the stream statuses.
var StreamStatuses = []StreamStatus{StreamConnected, StreamDisconnected}

// RollupStatus summarises the account status, the last run and the stream.
type RollupStatus string

// The rollup statuses.
const (
	RollupDraft   RollupStatus = "draft"
	RollupError   RollupStatus = "error"
	RollupHealthy RollupStatus = "healthy"
	RollupReview  RollupStatus = "review"
)

// RollupStatuses lists the rollup statuses.
var RollupStatuses = []RollupStatus{RollupDraft, RollupError, RollupHealthy, RollupReview}

// A Stamped value has the time of its last change.
type Stamped[T comparable] struct {
	Value T
	Since time.Time
}

// Set sets the value. It sets the time only if the value differs.
func (s *Stamped[T]) Set(v T, now time.Time) {
	if s.Value != v || s.Since.IsZero() {
		*s = Stamped[T]{v, now}
	}
}

// Owner is the contact person of an account.
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
	Properties   []Property // in the form of responses: the ID property first
	Tags         map[string]string
	ETag         string
	Created      time.Time
	Updated      time.Time

	// Reason explains the status to people; it may be empty.
	Reason string
	// Collection holds when it is collected and which regions are read.
	Collection CollectionSettings
	// LastRun is the status of the last finished collection; empty before the first.
	LastRun RunStatus
	// StreamSeen is true once the event stream was connected. From then on a
	// disconnected stream makes the rollup "review".
	StreamSeen bool
}

// Given is an optional member of a request: Set is false if the caller left it out.
type Given[T any] struct {
	Set   bool
	Value T
}

// Give returns a member that is set.
func Give[T any](v T) Given[T] { return Given[T]{true, v} }

// setIfGiven assigns the value to *dst if it is set.
func (g Given[T]) setIfGiven(dst *T) {
	if g.Set {
		*dst = g.Value
	}
}

// AccountSpec holds the members of a request that adds or changes an account. Members
// that are not set keep their values.
type AccountSpec struct {
	Name         string
	CSPProjectID Given[string]
	Environment  Given[*string]
	Owner        Given[*Owner]
	Properties   Given[[]Property]
	Tags         Given[map[string]string]
}

// Names of account properties in responses.
const (
	propAccountType = "AccountType"
	propIsRoot      = "IsRoot"
	propRoot        = "RootCloudAccountId"
	propLegacyID    = "LegacyCloudAccountID"
)

// accountForm describes the account ids of a provider.
type accountForm struct {
	requestName, responseName string // the name of the ID property in requests and in responses
	pattern                   *regexp.Regexp
	describe                  string
	legacy                    bool // responses have LegacyCloudAccountID
}

var accountForms = map[Provider]accountForm{
	AWS:   {"accountId", "AccountID", regexp.MustCompile(`^[0-9]{12}$`), "must be an AWS account id of 12 digits", true},
	Azure: {"subscriptionId", "SubscriptionID", uuidPattern, "must be an Azure subscription id, a UUID", true},
	GCP:   {"projectId", "ProjectId", regexp.MustCompile(`^[a-z0-9-]{6,30}$`), "must be a GCP project id of 6 to 30 of a-z, 0-9 and hyphen", false},
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// ProviderOfAccount returns the provider whose account ids have the form of an id. AWS
// comes before GCP: 12 digits match both, but a project id starts with a letter.
func ProviderOfAccount(id string) (Provider, bool) {
	for _, p := range []Provider{AWS, Azure, GCP} {
		if accountForms[p].pattern.MatchString(id) {
			return p, true
		}
	}
	return "", false
}

// AccountIDProperty returns the name of the property with the account id in requests.
func AccountIDProperty(p Provider) string { return accountForms[p].requestName }

// AccountIDOf returns the account id in a spec's properties. It fails with
// fault.Invalid if the id is missing or malformed.
func AccountIDOf(p Provider, properties []Property) (AccountID, error) {
	form := accountForms[p]
	prop, i := lookup(properties, form.requestName)
	if i < 0 {
		return "", fault.Field("properties", "must have the property %s", form.requestName)
	}
	if !form.pattern.MatchString(prop.String) {
		return "", fault.Fields(invalid(i, "stringV", form.describe))
	}
	if p == Azure { // Azure ids are case-insensitive; store them in lower case
		return AccountID(strings.ToLower(prop.String)), nil
	}
	return AccountID(prop.String), nil
}

// NewAccount returns the draft account that a spec describes.
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

// Changed returns the account with a spec applied. The ID property cannot change.
func (a Account) Changed(org OrgID, spec AccountSpec, now time.Time) (Account, error) {
	if strings.TrimSpace(spec.Name) == "" {
		return Account{}, fault.Field("cloudAccountName", "must not be empty")
	}
	if spec.Properties.Set {
		properties, err := a.shownProperties(org, spec.Properties.Value)
		if err != nil {
			return Account{}, err
		}
		a.Properties = properties
	}
	a.Name = spec.Name
	spec.CSPProjectID.setIfGiven(&a.CSPProjectID)
	if a.CSPProjectID == "" {
		a.CSPProjectID = "default"
	}
	spec.Environment.setIfGiven(&a.Environment)
	spec.Owner.setIfGiven(&a.Owner)
	spec.Tags.setIfGiven(&a.Tags)
	return a.withNewETag(now), nil
}

// shownProperties validates the properties of a request and returns them in the form of
// responses.
func (a Account) shownProperties(org OrgID, given []Property) ([]Property, error) {
	form := accountForms[a.Provider]
	properties := []Property{Text(form.responseName, string(a.ID))}
	if form.legacy {
		properties = append(properties, Text(propLegacyID, legacyID(org, a.Provider, a.ID)))
	}
	bad := duplicates(given)
	for i, p := range given {
		switch {
		case strings.EqualFold(p.Name, form.requestName), strings.EqualFold(p.Name, form.responseName):
			if !strings.EqualFold(p.String, string(a.ID)) {
				bad = append(bad, invalid(i, "stringV", "must be "+strconv.Quote(string(a.ID))+", the id of the account"))
			}
		case strings.EqualFold(p.Name, propLegacyID): // read-only; accepted so that a client can PUT what it got
		case p.Name == "":
			bad = append(bad, invalid(i, "name", "must not be empty"))
		default:
			p, problem := accountProperty(p)
			if problem != nil {
				bad = append(bad, invalid(i, problem.Path, problem.Message))
			}
			properties = append(properties, p)
		}
	}
	if root, i := lookup(given, propRoot); i >= 0 && root.String == string(a.ID) {
		bad = append(bad, invalid(i, "stringV", "must name another account"))
	}
	if _, i := lookup(properties, propAccountType); a.Provider == Azure && i < 0 {
		properties = append(properties, Text(propAccountType, "Commercial"))
	}
	if len(bad) > 0 {
		return nil, fault.Fields(bad...)
	}
	return properties, nil
}

// accountProperty validates a property that onboarding uses and returns it in its
// canonical spelling. It returns other properties unchanged.
func accountProperty(p Property) (Property, *fault.Detail) {
	switch {
	case strings.EqualFold(p.Name, propAccountType):
		v, ok := findFold(p.String, []string{"Commercial", "Government"})
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

// Root returns the id of the root account that the account names, or "".
func (a Account) Root() AccountID {
	p, _ := lookup(a.Properties, propRoot)
	return AccountID(p.String)
}

// Government reports whether an Azure subscription is in the government cloud.
func (a Account) Government() bool {
	p, _ := lookup(a.Properties, propAccountType)
	return p.String == "Government"
}

// RootProperty returns the index of the property that names a root account, or -1.
func RootProperty(properties []Property) int {
	_, i := lookup(properties, propRoot)
	return i
}

// WithStatus returns the account with a new status, its reason, and the updated rollup.
func (a Account) WithStatus(s AccountStatus, reason string, now time.Time) Account {
	a.Status.Set(s, now)
	a.Reason = reason
	return a.withRollup(now)
}

// WithRun returns the account with the status of its last run, and the updated rollup.
func (a Account) WithRun(s RunStatus, now time.Time) Account {
	a.LastRun = s
	return a.withRollup(now)
}

// WithStream returns the account with a new stream status, and the updated rollup.
func (a Account) WithStream(s StreamStatus, now time.Time) Account {
	a.Stream.Set(s, now)
	a.StreamSeen = a.StreamSeen || s == StreamConnected
	return a.withRollup(now)
}

// withRollup recomputes the rollup.
func (a Account) withRollup(now time.Time) Account {
	a.Rollup.Set(Rollup(a.Status.Value, a.LastRun, a.StreamSeen && a.Stream.Value == StreamDisconnected), now)
	return a.withNewETag(now)
}

// withNewETag gives the account a new ETag and update time.
func (a Account) withNewETag(now time.Time) Account {
	a.ETag, a.Updated = NewETag(), now
	return a
}

// Rollup summarises an account. streamLost means that its event stream was connected
// once and is now disconnected.
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

// CheckVersion fails with fault.Stale if the caller requires other versions of the account.
// The argument required is a list of ETags separated by commas, "*" for any version, or empty.
func (a Account) CheckVersion(required string) error { return checkVersion(a.ETag, required) }

// legacyID derives an id from the organisation and the account. It is stable when an
// account is added again, and differs between organisations, so that neither can tell
// that the other has the account.
func legacyID(org OrgID, p Provider, id AccountID) string {
	sum := sha256.Sum256([]byte(string(org) + "\x00" + string(p) + "\x00" + string(id)))
	return hex.EncodeToString(sum[:12])
}
