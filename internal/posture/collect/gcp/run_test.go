package gcp_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
)

// completenessRecorder is a recorder that records which types were read completely.
type completenessRecorder struct {
	mu       sync.Mutex
	complete map[posture.EntityType]bool
}

type recording struct {
	recorder *completenessRecorder
	kind     posture.EntityType
}

func (c *completenessRecorder) Begin(_ context.Context, s collect.Scoped) (collect.Recording, error) {
	return recording{c, s.Type}, nil
}

func (recording) Put(context.Context, posture.Entity) error { return nil }
func (recording) Discard()                                  {}

func (r recording) Commit(_ context.Context, complete bool) error {
	r.recorder.mu.Lock()
	defer r.recorder.mu.Unlock()
	r.recorder.complete[r.kind] = complete
	return nil
}

// TestRunOutcomes runs whole collections with and without faults and permissions.
func TestRunOutcomes(t *testing.T) {
	t.Parallel()
	without := func(missing string) []string {
		return slices.DeleteFunc(gcp.Permissions(), func(p string) bool { return p == missing })
	}
	for name, tt := range map[string]struct {
		credential func(*cloud) simgcp.Credential
		fault      gateway.Fault
		status     posture.RunStatus
		account    posture.AccountStatus
		message    string             // message of the run or of the type
		kind       posture.EntityType // type that does not succeed; empty if all do, or if the whole run fails
		complete   bool               // that type is still recorded as complete
	}{
		"all is well":     {credential: (*cloud).Reader, status: posture.RunCompleted, account: posture.AccountActive},
		"nothing allowed": {credential: (*cloud).Denied, status: posture.RunFailed, account: posture.AccountDenyAccess, message: "resourcemanager.projects.get"},
		"a list is denied": {
			credential: func(c *cloud) simgcp.Credential { return c.Limited("some", without("cloudsql.instances.list")...) },
			status:     posture.RunCompletedWithErrors, account: posture.AccountActive, kind: "GCP.SQL.Instance", message: "permission cloudsql.instances.list is missing",
		},
		"a detail is denied": {
			credential: func(c *cloud) simgcp.Credential { return c.Limited("some", without("storage.buckets.getIamPolicy")...) },
			status:     posture.RunCompletedWithErrors, account: posture.AccountActive, kind: "GCP.Storage.Bucket", message: "permission storage.buckets.getIamPolicy is missing",
			complete: true, // only a property is missing
		},
		"a service is off": {
			credential: (*cloud).Reader, fault: gateway.Fault{Kind: gateway.Off, Match: gateway.Call{Service: "redis"}}, status: posture.RunCompleted, account: posture.AccountActive,
		},
		"a service is unavailable": {
			credential: (*cloud).Reader, fault: gateway.Fault{Kind: gateway.Fail, Match: gateway.Call{Service: "file"}},
			status: posture.RunCompletedWithErrors, account: posture.AccountActive, kind: "GCP.Filestore.Instance", message: "503",
		},
		"the key expires": {
			credential: (*cloud).Reader, fault: gateway.Fault{Kind: gateway.Expire, Match: gateway.Call{Service: "redis"}},
			status: posture.RunFailed, account: posture.AccountValidationFailed, message: "no longer accepts the key",
		},
		"a service hangs": {
			credential: (*cloud).Reader, fault: gateway.Fault{Kind: gateway.Hang, Match: gateway.Call{Service: "redis"}},
			status: posture.RunTimeout, kind: "GCP.Redis.Instance", message: "not read in time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, simgcp.Options{Seed: 3, Size: 60})
			if tt.fault.Kind != "" {
				if _, err := c.faults.Add(tt.fault); err != nil {
					t.Fatal(err)
				}
			}
			timeout := 2 * time.Minute
			if tt.status == posture.RunTimeout {
				timeout = 5 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			recorder := &completenessRecorder{complete: map[posture.EntityType]bool{}}
			r := &collect.Runner{
				Sources: map[posture.Provider]collect.Source{posture.GCP: c.source()}, Recorder: recorder, Parallel: 8, Log: slog.New(slog.DiscardHandler),
			}
			got := r.Run(ctx, c.Projects()[0].Access("org", tt.credential(c)), posture.RunScope{}, nil)
			if got.Status != tt.status || got.Account != tt.account {
				t.Errorf("run %s, account %q, want %s, %q: %s", got.Status, got.Account, tt.status, tt.account, got.Reason)
			}
			text := got.Reason
			finished := tt.status != posture.RunFailed && tt.status != posture.RunTimeout // then all other types succeed
			for kind, result := range got.Collectors {
				if failed := result.Status != posture.CollectorSuccess; finished && failed != (kind == tt.kind) {
					t.Errorf("unexpected result of %s: %+v", kind, result)
				}
				if kind == tt.kind {
					text += strings.Join(result.Errors, " ") + result.Message
				}
			}
			if !strings.Contains(text, tt.message) {
				t.Errorf("message %q, want %q", text, tt.message)
			}
			if complete := recorder.complete[tt.kind]; tt.kind != "" && complete != tt.complete {
				t.Errorf("%s was recorded as complete: %v, want %v", tt.kind, complete, tt.complete)
			}
		})
	}
}
