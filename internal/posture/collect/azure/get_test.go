package azure_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"

	simazure "vigil/internal/sim/azure"
)

// TestSingleReadsAgree reads every entity again individually, as after an event,
// and expects the same result.
func TestSingleReadsAgree(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 40, Shares: half})
	s := r.open(t, r.access(0))
	all := listAll(t, s)
	manyPerID := map[posture.EntityType]bool{"Azure.Subscription.Location": true, "Azure.Authorization.Principal": true}
	for id, want := range all {
		if want.Type == "Azure.Network.CidrRange" {
			continue // its events contain the id of a network security group
		}
		if want.Type == "Azure.Security.SecurityContact" && len(property(want, "emails")) == 0 {
			continue // stands for a contact that does not exist, so that Azure cannot return it
		}
		u, _ := s.Unit(want.Type, posture.Global)
		var got *collect.Resource
		count := 0
		// Events do not preserve the case of ids.
		err := u.Get(t.Context(), strings.ToUpper(want.XID), func(e *collect.Resource) error {
			count++
			if e.ID == id {
				e.Normalize()
				got = e
			}
			return nil
		})
		if err != nil || got == nil || count > 1 && !manyPerID[want.Type] {
			t.Errorf("%s: %d entities, %v", id, count, err)
			continue
		}
		// Azure returns an id as the request spelled it.
		got.XID, got.Name = want.XID, want.Name
		if diff := cmp.Diff(want.Entity, got.Entity); diff != "" {
			t.Errorf("%s (-listed +got):\n%s", id, diff)
		}
	}
}

func TestRemovedResourcesAreGone(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 40})
	s := r.open(t, r.access(0))
	for _, typ := range []posture.EntityType{"Azure.Compute.VirtualMachine", "Azure.Storage.BlobContainer", "Azure.Network.Subnet", "Azure.Sql.Database"} {
		before, err := list(t, s, typ)
		if err != nil {
			t.Fatal(err)
		}
		for id, e := range before {
			if err := r.Change(simazure.Change{ID: e.XID, Gone: true}); err != nil {
				t.Fatal(err)
			}
			u, _ := s.Unit(typ, posture.Global)
			if err := u.Get(t.Context(), e.XID, func(*collect.Resource) error { return nil }); !errors.Is(err, collect.ErrGone) {
				t.Errorf("%s: %v, want %v", id, err, collect.ErrGone)
			}
			after, err := list(t, r.open(t, r.access(0)), typ)
			if err != nil || len(after) != len(before)-1 || after[id] != nil {
				t.Errorf("%s: %d of %d are left, %v", typ, len(after), len(before), err)
			}
			break
		}
	}
}

func TestChangesAreRead(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 40})
	sub := r.Subscriptions()[0].ID
	if got := findings(listAll(t, r.open(t, r.access(0)))); len(got) != 0 {
		t.Fatalf("a simulation without flaws has %v", got)
	}
	sites, err := list(t, r.open(t, r.access(0)), "Azure.Web.Site")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range sites {
		if err := r.Change(simazure.Change{ID: e.XID, Patch: world.Obj("_config/web", world.Obj("properties", world.Obj("ftpsState", "AllAllowed")))}); err != nil {
			t.Fatal(err)
		}
		break
	}
	newGroup := "/subscriptions/" + sub + "/resourceGroups/rg-new/providers/Microsoft.Network/networkSecurityGroups/wide-open"
	err = r.Change(simazure.Change{ID: newGroup, Make: world.Obj("location", "eastus", "properties", world.Obj("securityRules", world.Items(world.Obj("properties", world.Obj(
		"priority", 100, "direction", "Inbound", "access", "Allow", "protocol", "*", "sourceAddressPrefix", "*", "destinationAddressPrefix", "*", "destinationPortRange", "*")))))})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Change(simazure.Change{ID: "/subscriptions/" + sub + "/providers/Microsoft.Security/securityContacts/default", Gone: true}); err != nil {
		t.Fatal(err)
	}
	got := findings(listAll(t, r.open(t, r.access(0))))
	want := map[world.Finding]bool{}
	for f := range r.Findings(sub) {
		want[f] = true
	}
	// The site allows FTP, the group opens RDP, SSH and UDP, and there is no contact.
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 5 {
		t.Errorf("findings (-world +read), %d:\n%s", len(got), diff)
	}
}

// redirectingPages replaces every list of virtual machines by an empty page whose nextLink is the
// field to. SELF in the field stands for the URL of the request.
type redirectingPages struct {
	http.RoundTripper
	to string

	mu       sync.Mutex
	requests []string
}

func (p *redirectingPages) RoundTrip(req *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.requests = append(p.requests, req.URL.Host)
	p.mu.Unlock()
	answer, err := p.RoundTripper.RoundTrip(req)
	if err == nil && strings.Contains(req.URL.Path, "virtualMachines") {
		answer.Body.Close()
		text := `{"value":[],"nextLink":"` + strings.ReplaceAll(p.to, "SELF", req.URL.String()) + `"}`
		answer.ContentLength = int64(len(text))
		answer.Body = io.NopCloser(strings.NewReader(text))
		answer.Header.Del("Content-Length")
	}
	return answer, err
}

// TestNextPageIsRefused checks that the token is only sent to Azure and that every list ends.
func TestNextPageIsRefused(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"https://evil.example/next":                  "is not on the same host",
		"https://management.azure.com.evil.example/": "is not on the same host",
		"https://management.azure.com@evil.example/": "is not on the same host",
		"https://graph.microsoft.com/v1.0/users":     "is not on the same host",
		"http://management.azure.com/next":           "is not an https URL",
		"::":                                         "is not an https URL",
		"SELF":                                       "has been read already",
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, simazure.Options{Size: 20})
			transport := &redirectingPages{RoundTripper: r.out, to: to}
			source := azure.New(azure.Options{HTTP: &http.Client{Transport: transport}})
			s, err := source.Open(t.Context(), r.access(0))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := list(t, s, "Azure.Compute.VirtualMachine"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			for _, host := range transport.requests {
				if host != "management.azure.com" && host != "login.microsoftonline.com" {
					t.Errorf("%s was called", host)
				}
			}
		})
	}
}

// TestSharedListsAreReadOnce counts the calls of a whole run.
func TestSharedListsAreReadOnce(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 60})
	s := r.open(t, r.access(0))
	r.faults.ResetCounts()
	listAll(t, s)
	for call, n := range r.faults.Calls() {
		for _, action := range []string{"storageAccounts/read", "vaults/read", "servers/read", "virtualNetworks/read", "networkSecurityGroups/read", "networkWatchers/read", "roleAssignments/read", "sites/read"} {
			if call.Action == action && n != 1 {
				t.Errorf("%s: %d calls", action, n)
			}
		}
		if call.Action == "storageAccounts/blobServices/containers/read" && n != 4 {
			t.Errorf("%d calls for the containers of 4 accounts", n)
		}
	}
}

// TestSubscriptionsAreListed lists subscriptions, also below a management group.
func TestSubscriptionsAreListed(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Subscriptions: 5, Government: 2})
	for _, group := range []string{"", "platform"} {
		got, err := r.source.Subscriptions(t.Context(), r.access(0), group)
		if err != nil || len(got) != 3 || got[0].ID != posture.AccountID(r.Subscriptions()[0].ID) || got[0].Name == "" {
			t.Errorf("group %q: %v, %v; want three named subscriptions", group, got, err)
		}
	}
	got, err := r.source.Subscriptions(t.Context(), r.access(4), "platform")
	if err != nil || len(got) != 2 {
		t.Errorf("government: %v, %v; want two subscriptions", got, err)
	}
	if _, err := r.source.Subscriptions(t.Context(), r.access(0), "../../subscriptions"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path is accepted as a group: %v", err)
	}
	wrong := r.access(0)
	wrong.Secrets = posture.Secrets{posture.PropApplicationKey: "wrong"}
	if _, err := r.source.Subscriptions(t.Context(), wrong, ""); !errors.Is(err, collect.ErrIdentity) || !fault.Is(err, fault.Invalid) {
		t.Errorf("with a wrong secret: %v", err)
	}
	r.fault(t, gateway.Fault{Match: gateway.Call{Service: "Microsoft.Management"}, Kind: gateway.Deny})
	if _, err := r.source.Subscriptions(t.Context(), r.access(0), "platform"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "Microsoft.Management/managementGroups/descendants/read") {
		t.Errorf("a group without access: %v", err)
	}
}

// memoryRecorder is a recorder that stores entities by account.
type memoryRecorder struct {
	mu        sync.Mutex
	counts    map[posture.AccountID]int
	misplaced []string
}

type memoryRecording struct {
	*memoryRecorder
	scope collect.Scoped
}

func (r *memoryRecorder) Begin(_ context.Context, s collect.Scoped) (collect.Recording, error) {
	return memoryRecording{r, s}, nil
}

func (r memoryRecording) Put(_ context.Context, e posture.Entity) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[r.scope.Account]++
	if e.Account != r.scope.Account || e.Type != r.scope.Type || !strings.Contains(string(e.ID), "."+string(r.scope.Account)+".") {
		r.misplaced = append(r.misplaced, string(e.ID))
	}
	return nil
}

func (r memoryRecording) Commit(context.Context, bool) error { return nil }
func (r memoryRecording) Discard()                           {}

// TestAccountsAreIsolated runs several subscriptions concurrently through the runner, one of
// them in the government cloud and one without access.
func TestAccountsAreIsolated(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Subscriptions: 4, Government: 1, Size: 60})
	recorder := &memoryRecorder{counts: map[posture.AccountID]int{}}
	runner := &collect.Runner{Sources: map[posture.Provider]collect.Source{posture.Azure: r.source}, Recorder: recorder, Parallel: 4, Log: slog.New(slog.DiscardHandler)}
	outcomes := make([]collect.Outcome, 4)
	var wait sync.WaitGroup
	for i := range outcomes {
		a := r.access(i)
		if i == 2 {
			a = r.Subscriptions()[2].Access("org", r.Denied(simazure.PublicCloud))
		}
		wait.Go(func() { outcomes[i] = runner.Run(t.Context(), a, posture.RunScope{}, nil) })
	}
	wait.Wait()
	for i, o := range outcomes {
		want := posture.RunCompleted
		if i == 2 {
			want = posture.RunFailed
		}
		if o.Status != want || i != 2 && o.Entities < 60 {
			t.Errorf("run %d: %s %q, %d entities", i, o.Status, o.Reason, o.Entities)
		}
	}
	if outcomes[2].Account != posture.AccountDenyAccess {
		t.Errorf("the account without access is %s", outcomes[2].Account)
	}
	if len(recorder.misplaced) > 0 || len(recorder.counts) != 3 {
		t.Errorf("entities of %d accounts, stored under the wrong account: %v", len(recorder.counts), recorder.misplaced)
	}
}
