package posture_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func spec(ps ...posture.Property) posture.AccountSpec {
	return posture.AccountSpec{Name: "x", Properties: posture.Give(ps)}
}

func TestAccountIDsHaveTheFormOfTheirProvider(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider posture.Provider
		property posture.Property
		want     string // a part of the error; empty if the id is valid
	}{
		{posture.AWS, posture.Text("accountId", "123456789012"), ""},
		{posture.AWS, posture.Text("ACCOUNTID", "123456789012"), ""},
		{posture.AWS, posture.Text("accountId", "12345678901"), "12 digits"},
		{posture.AWS, posture.Text("accountId", "١٢٣٤٥٦٧٨٩٠١٢"), "12 digits"}, // digits, but not of ASCII
		{posture.AWS, posture.Text("subscriptionId", "123456789012"), "must have the property accountId"},
		{posture.Azure, posture.Text("subscriptionId", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ""},
		{posture.Azure, posture.Text("subscriptionId", "6f9619ff"), "a UUID"},
		{posture.GCP, posture.Text("projectId", "my-project"), ""},
		{posture.GCP, posture.Text("projectId", "My-Project"), "6 to 30"},
		{posture.GCP, posture.Text("projectId", strings.Repeat("a", 31)), "6 to 30"},
	} {
		_, err := posture.NewAccount("org", tt.provider, spec(tt.property), now)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %q", tt.provider, tt.property, err, tt.want)
		}
	}
}

func TestAzureSubscriptionIDsAreLowerCased(t *testing.T) {
	t.Parallel()
	a, err := posture.NewAccount("org", posture.Azure, spec(posture.Text("subscriptionId", "6F9619FF-8B86-D011-B42D-00C04FC964FF")), now)
	if err != nil {
		t.Fatal(err)
	}
	if a.ID != "6f9619ff-8b86-d011-b42d-00c04fc964ff" {
		t.Errorf("id %s", a.ID)
	}
}

func TestLegacyIDsAreStableAndDifferBetweenOrganisations(t *testing.T) {
	t.Parallel()
	legacy := func(org posture.OrgID, at time.Time) string {
		a, err := posture.NewAccount(org, posture.AWS, spec(posture.Text("accountId", "123456789012")), at)
		if err != nil {
			t.Fatal(err)
		}
		return a.Properties[1].String // LegacyCloudAccountID, which follows the account id
	}
	if legacy("one", now) != legacy("one", now.Add(time.Hour)) {
		t.Error("adding an account again changes its legacy id")
	}
	if legacy("one", now) == legacy("two", now) {
		t.Error("two organisations have the same legacy id")
	}
}

func TestPropertiesSurviveGetThenPut(t *testing.T) {
	t.Parallel()
	old, err := posture.NewAccount("org", posture.AWS, spec(posture.Text("accountId", "123456789012"), posture.Flag("isroot", true)), now)
	if err != nil {
		t.Fatal(err)
	}
	back, err := old.Changed("org", spec(old.Properties...), now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(old.Properties, back.Properties); diff != "" {
		t.Errorf("properties (-before +after):\n%s", diff)
	}
	if back.ETag == old.ETag {
		t.Error("the ETag did not change")
	}
}

func TestUnsetMembersKeepTheirValues(t *testing.T) {
	t.Parallel()
	env := "prod"
	old := posture.Account{
		ID: "123456789012", Provider: posture.AWS, Name: "a", CSPProjectID: "p", Environment: &env,
		Owner: &posture.Owner{Name: "Ada"}, Tags: map[string]string{"a": "b"},
	}
	changed, err := old.Changed("org", posture.AccountSpec{Name: "b"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if changed.CSPProjectID != "p" || changed.Environment == nil || changed.Owner == nil || changed.Tags["a"] != "b" {
		t.Errorf("an unset member was cleared: %+v", changed)
	}
	cleared, err := old.Changed("org", posture.AccountSpec{
		Name: "b", Environment: posture.Give[*string](nil), Owner: posture.Give[*posture.Owner](nil), Tags: posture.Give[map[string]string](nil),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	if cleared.Environment != nil || cleared.Owner != nil || cleared.Tags != nil {
		t.Errorf("a member set to nil was kept: %+v", cleared)
	}
}

func TestInvalidAccountPropertiesAreReported(t *testing.T) {
	t.Parallel()
	id := posture.Text("accountId", "123456789012")
	for _, tt := range []struct {
		name string
		ps   []posture.Property
		want []string // paths
	}{
		{"second id, which differs", []posture.Property{id, posture.Text("AccountID", "999999999999")}, []string{"properties[1].name", "properties[1].stringV"}},
		{"duplicate name", []posture.Property{id, posture.Text("a", "1"), posture.Text("A", "2")}, []string{"properties[2].name"}},
		{"empty name", []posture.Property{id, posture.Text("", "1")}, []string{"properties[1].name"}},
		{"IsRoot of type string", []posture.Property{id, posture.Text("IsRoot", "true")}, []string{"properties[1].type"}},
		{"account is its own root", []posture.Property{id, posture.Text("RootCloudAccountId", "123456789012")}, []string{"properties[1].stringV"}},
		{"two errors", []posture.Property{id, posture.Text("AccountType", "x"), posture.Text("IsRoot", "x")}, []string{"properties[1].stringV", "properties[2].type"}},
	} {
		_, err := posture.NewAccount("org", posture.AWS, spec(tt.ps...), now)
		var got []string
		for _, d := range fault.Details(err) {
			got = append(got, d.Path)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRollup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status     posture.AccountStatus
		run        posture.RunStatus
		streamLost bool
		want       posture.RollupStatus
	}{
		{posture.AccountDraft, "", false, posture.RollupDraft},
		{posture.AccountDraft, posture.RunFailed, true, posture.RollupDraft},
		{posture.AccountActive, "", false, posture.RollupHealthy},
		{posture.AccountActive, posture.RunCompleted, false, posture.RollupHealthy},
		{posture.AccountActive, posture.RunStarted, false, posture.RollupHealthy},
		{posture.AccountActive, posture.RunCompletedWithErrors, false, posture.RollupReview},
		{posture.AccountActive, posture.RunCompleted, true, posture.RollupReview},
		{posture.AccountActive, posture.RunFailed, false, posture.RollupError},
		{posture.AccountActive, posture.RunTimeout, true, posture.RollupError},
		{posture.AccountValidationFailed, posture.RunCompleted, false, posture.RollupError},
		{posture.AccountDenyAccess, "", false, posture.RollupError},
	} {
		if got := posture.Rollup(tt.status, tt.run, tt.streamLost); got != tt.want {
			t.Errorf("Rollup(%s, %s, %v) = %s, want %s", tt.status, tt.run, tt.streamLost, got, tt.want)
		}
	}
}

func TestSettingTheSameStatusKeepsItsTime(t *testing.T) {
	t.Parallel()
	a := posture.Account{}.WithStatus(posture.AccountActive, "", now)
	second := a.WithStatus(posture.AccountActive, "", now.Add(time.Hour))
	if !second.Status.Since.Equal(now) {
		t.Errorf("since %v, want %v", second.Status.Since, now)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	a := posture.Account{ETag: "v1"}
	// Quotes in the list mark a tag that was sent as "" or "*" (see httpapi.Match): no version has it.
	for required, stale := range map[string]bool{
		"": false, "*": false, "v1": false, "v0,v1": false,
		"v2": true, "v0,v2": true, `""`: true, `"*"`: true,
	} {
		if err := a.CheckVersion(required); (err != nil) != stale || stale && !fault.Is(err, fault.Stale) {
			t.Errorf("CheckVersion(%q) = %v, want a Stale error: %v", required, err, stale)
		}
	}
}
