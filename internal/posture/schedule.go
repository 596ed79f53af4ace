package posture

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// Interval is how often an account is collected in full unless a plan says otherwise.
const Interval = 12 * time.Hour

// The shortest and the longest interval of a plan, in hours.
const (
	MinEveryHours = 1
	MaxEveryHours = 7 * 24
)

// A CollectionPlan says how often accounts are collected.
type CollectionPlan struct {
	EveryHours int
	Paused     bool // no collection starts by itself; users can still start one
}

// DefaultPlan is the plan of an organisation that has not set one.
var DefaultPlan = CollectionPlan{EveryHours: int(Interval / time.Hour)}

// Validate fails if the interval is out of range.
func (p CollectionPlan) Validate() error { return checkEvery(p.EveryHours) }

func checkEvery(hours int) error {
	if hours < MinEveryHours || hours > MaxEveryHours {
		return fault.Field("everyHours", "must be from %d to %d", MinEveryHours, MaxEveryHours)
	}
	return nil
}

// Next returns the time of the next run of an account after the last one, or the zero
// time if the plan is paused. Each account has a fixed slot in the interval, derived
// from its id, so that the runs of many accounts are spread evenly.
func (p CollectionPlan) Next(org OrgID, id AccountID, last time.Time) time.Time {
	if p.Paused {
		return time.Time{}
	}
	every := time.Duration(p.EveryHours) * time.Hour
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(org) + "/" + string(id)))
	slot := time.Duration(h.Sum64() % uint64(every)).Truncate(time.Millisecond) // times are stored in milliseconds
	next := last.Truncate(every).Add(slot)
	gap := every / 48 // 15 minutes at the default interval: do not repeat a run that just ended
	for next.Before(last.Add(gap)) {
		next = next.Add(every)
	}
	return next
}

// CollectionSettings are the settings of one account that differ from the plan of its
// organisation, and the regions that are read.
type CollectionSettings struct {
	EveryHours int      // 0 for the organisation's
	Paused     *bool    // nil for the organisation's
	Regions    []string // sorted; empty for all
}

// Plan returns the plan of an account in an organisation with the given plan.
func (s CollectionSettings) Plan(org CollectionPlan) CollectionPlan {
	if s.EveryHours != 0 {
		org.EveryHours = s.EveryHours
	}
	if s.Paused != nil {
		org.Paused = *s.Paused
	}
	return org
}

// MaxRegions is how many regions the settings of an account may name.
const MaxRegions = 100

// regionForms describes the names of regions by provider.
var regionForms = map[Provider]struct {
	pattern *regexp.Regexp
	example string
}{
	AWS:   {regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`), "eu-west-1"},
	Azure: {regexp.MustCompile(`^[a-z]+[a-z0-9]*$`), "westeurope"},
	GCP:   {regexp.MustCompile(`^[a-z]+-[a-z]+[0-9]+$`), "europe-west1"},
}

// gcpLocation matches a region of Google Cloud or a zone in it: europe-west1-b.
var gcpLocation = regexp.MustCompile(`^([a-z]+-[a-z]+[0-9]+)(-[a-z])?$`)

// Normalized validates the settings of an account of a provider, and returns them with
// the regions sorted and without duplicates. It fails with fault.Invalid if a value is
// out of range or the name of a region is malformed.
func (s CollectionSettings) Normalized(p Provider) (CollectionSettings, error) {
	if s.EveryHours != 0 {
		if err := checkEvery(s.EveryHours); err != nil {
			return s, err
		}
	}
	form := regionForms[p]
	regions := make([]string, 0, len(s.Regions))
	for i, r := range s.Regions {
		r = strings.ToLower(strings.TrimSpace(r))
		if r == Global || !form.pattern.MatchString(r) || len(r) > 40 {
			return s, fault.Field(fmt.Sprintf("regions[%d]", i), "must be the name of a region, such as %s", form.example)
		}
		regions = append(regions, r)
	}
	slices.Sort(regions)
	s.Regions = slices.Compact(regions)
	return s, nil
}

// reads reports whether entities of a region are read. Entities without a region, and
// those of Google Cloud that are in several regions, are always read.
func (s CollectionSettings) reads(p Provider, region string) bool {
	if len(s.Regions) == 0 || region == "" || region == Global {
		return true
	}
	region = strings.ToLower(region)
	if p == GCP {
		parts := gcpLocation.FindStringSubmatch(region)
		if parts == nil {
			return true // in several regions: EU
		}
		region = parts[1]
	}
	_, found := slices.BinarySearch(s.Regions, region)
	return found
}

// Reads reports whether entities of a region of the account are read.
func (a Account) Reads(region string) bool { return a.Collection.reads(a.Provider, region) }

// WithCollection returns the account with other collection settings.
func (a Account) WithCollection(s CollectionSettings, now time.Time) Account {
	a.Collection = s
	return a.withNewETag(now)
}

// PlanStore stores when accounts are collected and which of their regions are read.
type PlanStore interface {
	// CollectionPlan returns the plan of an organisation, [DefaultPlan] if it set none.
	CollectionPlan(ctx context.Context, org OrgID) (CollectionPlan, error)

	// SetCollectionPlan sets the plan of an organisation and plans the next runs of the
	// accounts that follow it, in one transaction.
	SetCollectionPlan(ctx context.Context, org OrgID, p CollectionPlan) error

	// SetCollection sets the collection settings of an account, plans its next run in
	// the same transaction and returns the account. It fails with fault.NotFound if
	// the account does not exist. ifMatch is empty, an ETag or a list of ETags: if it is
	// not empty and does not match the account's ETag, SetCollection fails with
	// fault.Stale.
	SetCollection(ctx context.Context, org OrgID, id AccountID, s CollectionSettings, ifMatch string) (Account, error)
}
