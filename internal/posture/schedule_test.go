package posture_test

import (
	"slices"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func TestPlans(t *testing.T) {
	t.Parallel()
	for _, hours := range []int{posture.MinEveryHours, 12, posture.MaxEveryHours} {
		plan, every := posture.CollectionPlan{EveryHours: hours}, time.Duration(hours)*time.Hour
		next := plan.Next("org", "a", now)
		if wait := next.Sub(now); wait <= 0 || wait > every+every/48 { // Next keeps 1/48 free after a run
			t.Errorf("every %d hours: due after %v", hours, wait)
		}
		if again := plan.Next("org", "a", next); again.Sub(next) != every {
			t.Errorf("every %d hours: due again after %v", hours, again.Sub(next))
		}
	}
	yes, no := true, false
	if next := (posture.CollectionPlan{EveryHours: 1, Paused: true}).Next("org", "a", now); !next.IsZero() {
		t.Errorf("paused: due at %v", next)
	}
	org := posture.CollectionPlan{EveryHours: 24}
	for _, tt := range []struct {
		own  posture.CollectionSettings
		want posture.CollectionPlan
	}{
		{posture.CollectionSettings{}, org},
		{posture.CollectionSettings{EveryHours: 1}, posture.CollectionPlan{EveryHours: 1}},
		{posture.CollectionSettings{Paused: &yes}, posture.CollectionPlan{EveryHours: 24, Paused: true}},
		{posture.CollectionSettings{Paused: &no}, org},
	} {
		if got := tt.own.Plan(org); got != tt.want {
			t.Errorf("plan of %+v = %+v, want %+v", tt.own, got, tt.want)
		}
	}
}

func TestRegionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider posture.Provider
		regions  []string
		want     []string // nil if they are invalid
	}{
		{posture.AWS, []string{"us-east-1", " EU-west-1 ", "us-east-1"}, []string{"eu-west-1", "us-east-1"}},
		{posture.AWS, []string{"us-gov-west-1"}, []string{"us-gov-west-1"}},
		{posture.AWS, []string{}, []string{}},
		{posture.AWS, []string{"global"}, nil},
		{posture.AWS, []string{"eu west"}, nil},
		{posture.AWS, []string{""}, nil},
		{posture.AWS, []string{"europe-west1"}, nil},
		{posture.Azure, []string{"WestEurope", "eastus2"}, []string{"eastus2", "westeurope"}},
		{posture.Azure, []string{"west europe"}, nil},
		{posture.GCP, []string{"europe-west1"}, []string{"europe-west1"}},
		{posture.GCP, []string{"europe-west1-b"}, nil},
	} {
		got, err := posture.CollectionSettings{Regions: tt.regions}.Normalized(tt.provider)
		if tt.want == nil && !fault.Is(err, fault.Invalid) || tt.want != nil && (err != nil || !slices.Equal(got.Regions, tt.want)) {
			t.Errorf("%s %q = %q, %v, want %q", tt.provider, tt.regions, got.Regions, err, tt.want)
		}
	}
	if _, err := (posture.CollectionSettings{EveryHours: posture.MaxEveryHours + 1}).Normalized(posture.AWS); !fault.Is(err, fault.Invalid) {
		t.Errorf("more than the longest interval: %v", err)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider posture.Provider
		regions  []string
		region   string
		want     bool
	}{
		{posture.AWS, nil, "us-east-1", true},
		{posture.AWS, []string{"eu-west-1"}, "eu-west-1", true},
		{posture.AWS, []string{"eu-west-1"}, "us-east-1", false},
		{posture.AWS, []string{"eu-west-1"}, posture.Global, true},
		{posture.Azure, []string{"westeurope"}, "WestEurope", true},
		{posture.Azure, []string{"westeurope"}, "eastus", false},
		{posture.GCP, []string{"europe-west1"}, "europe-west1-b", true},
		{posture.GCP, []string{"europe-west1"}, "europe-west10", false},
		{posture.GCP, []string{"europe-west1"}, "us-central1-a", false},
		{posture.GCP, []string{"europe-west1"}, "EU", true},
	} {
		a := posture.Account{Provider: tt.provider, Collection: posture.CollectionSettings{Regions: tt.regions}}
		if got := a.Reads(tt.region); got != tt.want {
			t.Errorf("%s account with %q reads %s = %v", tt.provider, tt.regions, tt.region, got)
		}
	}
}
