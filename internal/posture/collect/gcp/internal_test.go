package gcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/googleapi"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

func aScope(location string) *scope {
	return &scope{session: &session{account: "p-1", project: "p-1", number: "123"}, location: location, shared: new(shared)}
}

func TestNamesAreRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind posture.EntityType
		want posture.EntityID
	}{
		"https://www.googleapis.com/compute/v1/projects/p-1/zones/us-a1-b/instances/vm": {instanceType, "GCP.Compute.p-1.us-a1-b.Instance.vm"},
		"https://compute.googleapis.com/compute/beta/projects/123/regions/r/disks/d":    {diskType, "GCP.Compute.p-1.r.Disk.d"},
		"projects/123/global/networks/n":                                                {networkType, "GCP.Compute.p-1.global.Network.n"},
		"//compute.googleapis.com/projects/other/global/networks/n":                     {networkType, "GCP.Compute.other.global.Network.n"},
		"projects/p-1/locations/eu/keyRings/r/cryptoKeys/k":                             {cryptoKeyType, "GCP.KMS.p-1.eu.CryptoKey.r/k"},
		"projects/p-1/metrics/web%2Fslow":                                               {logMetricType, "GCP.Logging.p-1.global.Metric.web/slow"},
		"projects/_/buckets/b.example.com":                                              {bucketType, "GCP.Storage.p-1.global.Bucket.b.example.com"},
		"projects/-/serviceAccounts/a@p-1.iam.gserviceaccount.com":                      {serviceAccountType, "GCP.IAM.p-1.global.ServiceAccount.a@p-1.iam.gserviceaccount.com"},
		"projects/example.com:old/global/networks/n":                                    {networkType, "GCP.Compute.example.com:old.global.Network.n"},
		"projects/p-1/zones/us-a1-b/instances/vm/setMetadata":                           {instanceType, ""},
		"projects/p-1/zones//instances/vm":                                              {instanceType, ""},
		"projects/p-1/zones/z/instances/%zz":                                            {instanceType, ""},
		"vm":                                                                            {instanceType, ""},
		"":                                                                              {instanceType, ""},
	} {
		if got := aScope(posture.Global).ref(name, tt.kind); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestEventsNameResources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind           posture.EntityType
		location, name string
		want           string
	}{
		{instanceType, "global", "projects/p-1/zones/z/instances/vm", "projects/p-1/zones/z/instances/vm"},
		{instanceType, "z-a-b", "vm", "projects/p-1/zones/z-a-b/instances/vm"},
		{zoneType, "global", "managedZones/example", "projects/p-1/managedZones/example"},
		{clusterType, "global", "projects/123/zones/z/clusters/c/nodePools/n", "projects/p-1/zones/z/clusters/c"},
		{serviceAccountType, "global", "projects/-/serviceAccounts/s/keys/k", "projects/p-1/serviceAccounts/s"},
		{logMetricType, "global", "web/slow", "projects/p-1/metrics/web%2Fslow"},
		{cryptoKeyType, "eu", "r/k", "projects/p-1/locations/eu/keyRings/r/cryptoKeys/k"},
		{addressType, "global", "a", "projects/p-1/global/addresses/a"},
		{addressType, "r", "a", "projects/p-1/regions/r/addresses/a"},
		{cryptoKeyType, "eu", "k", ""},
		{instanceType, "global", "projects/other/zones/z/instances/vm", ""},
		{instanceType, "global", "projects/p-1/zones/z/disks/vm", ""},
		{zoneType, "global", "policies/example", ""},
	} {
		at, ok := aScope(tt.location).find(tt.kind, tt.name)
		if got := at.path; ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s at %s: %q, %v; want %q", tt.name, tt.location, got, ok, tt.want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("projects/p-1/zones/z/instances/vm", "z")
	f.Add("https://x/projects/1/global/networks/n", "global")
	f.Add("a/b", "")
	f.Fuzz(func(t *testing.T, name, location string) {
		s := aScope(location)
		for kind := range namings {
			at, ok := s.find(kind, name)
			if ok && (at.account != "p-1" || at.name == "" || at.path == "") {
				t.Errorf("%s: find %q: %+v", kind, name, at)
			}
			if again, known := s.locate(kind, at.path); ok && (!known || again != at) {
				t.Errorf("%s: %q is %+v and then %+v", kind, name, at, again)
			}
			if r := s.begin(kind, name); r.ID != "" && r.Type != kind {
				t.Errorf("begin %q: %+v", name, r)
			}
		}
	})
}

func FuzzPortRange(f *testing.F) {
	f.Add("22")
	f.Add("20-25")
	f.Add("-1--2")
	f.Fuzz(func(t *testing.T, text string) {
		from, to, ok := portRange(text)
		if ok && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("%q is %d to %d", text, from, to)
		}
	})
}

func TestWhatIsMissingFromAListIsAFailure(t *testing.T) {
	t.Parallel()
	type location struct {
		items []string
		lost  bool
	}
	var got []string
	page := func(items []string) error {
		got = append(got, items...)
		return nil
	}
	take := func(l location) ([]string, bool) { return l.items, l.lost }
	all := map[string]location{"zones/b": {items: []string{"b"}}, "zones/a": {items: []string{"a1", "a2"}}, "zones/c": {}}
	if err := everywhere(all, nil, take, page); err != nil {
		t.Error(err)
	}
	all["zones/d"] = location{lost: true}
	err := everywhere(all, []string{"zones/e"}, take, page)
	if err == nil || err.Error() != "not reached: zones/e, zones/d" {
		t.Errorf("not all was reached: %v", err)
	}
	if diff := cmp.Diff([]string{"a1", "a2", "b", "a1", "a2", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusalsNameThePermission(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Required 'compute.zones.list' permission for 'projects/p'":                                                 "compute.zones.list",
		"Permission 'iam.roles.list' denied on resource '//x' (or it may not exist).":                               "iam.roles.list",
		"Permission iam.serviceAccountKeys.list is required to perform this operation on service account x.":        "iam.serviceAccountKeys.list",
		"a@b does not have storage.buckets.getIamPolicy access to the Google Cloud Storage bucket.":                 "storage.buckets.getIamPolicy",
		"Access Denied: Dataset p:d: Permission bigquery.datasets.get denied on dataset p:d (or it may not exist).": "bigquery.datasets.get",
		"Required \"container.clusters.list\" permission(s) for \"projects/p\".":                                    "container.clusters.list",
		"The caller does not have permission":                                                                       "fallback.things.list",
		"Forbidden":                                                                                                 "fallback.things.list",
		"Permission denied on resource project p.":                                                                  "fallback.things.list",
	} {
		err := sorted(&googleapi.Error{Code: 403, Message: message}, "fallback.things.list")
		if denied, ok := errors.AsType[*collect.DeniedError](err); !ok || denied.Permission != want {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestOneReadsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o once[int]
		reads := 0
		slow := func() (int, error) {
			reads++
			time.Sleep(time.Second)
			if reads == 1 {
				return 0, context.Canceled // the first one's run was stopped
			}
			return 7, nil
		}
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if n, err := o.get(t.Context(), slow); i > 0 && (n != 7 || err != nil) {
					t.Errorf("%d: %d, %v", i, n, err)
				}
			})
		}
		all.Wait()
		if reads != 2 {
			t.Errorf("%d reads", reads)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := o.get(ended, slow); n != 7 || err != nil {
			t.Errorf("what is known takes no time: %d, %v", n, err)
		}
	})
	var m many[string]
	for range 2 {
		for i := range mostNamed + 10 {
			if v, err := m.get(t.Context(), strings.Repeat("x", i%7)+string(rune(i)), func() (string, error) { return "v", nil }); v != "v" || err != nil {
				t.Fatal(v, err)
			}
		}
	}
	if len(m.named) > mostNamed {
		t.Errorf("%d are remembered", len(m.named))
	}
}
