package collect_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// cloud is a source with fixed units.
type cloud struct {
	open  error // error of Open
	units []collect.Unit
}

func (c cloud) Provider() posture.Provider                                    { return posture.AWS }
func (c cloud) Declarations() []collect.Declaration                           { return nil }
func (c cloud) Open(context.Context, posture.Access) (collect.Session, error) { return c, c.open }
func (c cloud) Units(context.Context) ([]collect.Unit, error)                 { return c.units, nil }
func (c cloud) Unit(posture.EntityType, string) (collect.Unit, bool)          { return collect.Unit{}, false }
func (c cloud) Close()                                                        {}

// commitRecorder is a recorder that records the commits.
type commitRecorder struct {
	mu        sync.Mutex
	committed map[string]string
}

type recording struct {
	commitRecorder *commitRecorder
	scope          collect.Scoped
	put            int
}

func (r *commitRecorder) Begin(_ context.Context, s collect.Scoped) (collect.Recording, error) {
	return &recording{commitRecorder: r, scope: s}, nil
}

func (r *recording) Put(context.Context, posture.Entity) error {
	r.put++
	return nil
}

func (r *recording) Commit(_ context.Context, complete bool) error {
	r.commitRecorder.mu.Lock()
	defer r.commitRecorder.mu.Unlock()
	r.commitRecorder.committed[string(r.scope.Type)+" "+r.scope.Region] = fmt.Sprintf("%d, complete %v", r.put, complete)
	return nil
}

func (r *recording) Discard() {}

// unit returns a unit that emits n entities and ends with err. If problem is not nil, it is
// the reason why a detail of the first entity could not be read.
func unit(t posture.EntityType, region string, n int, problem, err error) collect.Unit {
	return collect.Unit{Type: t, Region: region, List: func(ctx context.Context, emit collect.Emit) error {
		for i := range n {
			r := collect.NewResource(t, "123456789012", region, fmt.Sprint(i))
			if i == 0 && problem != nil {
				r.Unread(problem, "policy")
			}
			if err := emit(r); err != nil {
				return err
			}
		}
		return err
	}}
}

// run collects an account. It returns the outcome, and by type and region the number of
// entities that were committed and whether they are complete.
func run(t *testing.T, ctx context.Context, c cloud, scope posture.RunScope) (collect.Outcome, map[string]string) {
	t.Helper()
	recorder := &commitRecorder{committed: map[string]string{}}
	r := &collect.Runner{Sources: map[posture.Provider]collect.Source{posture.AWS: c}, Recorder: recorder, Parallel: 3, Log: slog.New(slog.DiscardHandler)}
	access := posture.Access{Org: "org", Account: posture.Account{ID: "123456789012", Provider: posture.AWS}}
	return r.Run(ctx, access, scope, nil), recorder.committed
}

const bucket, key = posture.EntityType("AWS.S3.Bucket"), posture.EntityType("AWS.KMS.Key")

var denied = &collect.DeniedError{Permission: "s3:GetBucketPolicy", Err: errors.New("AccessDenied")}

func TestResourcesThatVanishAreCounted(t *testing.T) {
	t.Parallel()
	answers := clusterAnswers()
	answers[`test.ListNodes {"cluster":"b"}`] = []string{`{"nodes":[]}`}
	r, _ := newReader(t, answers, clusters, nodes)
	got, saved := run(t, t.Context(), cloud{units: []collect.Unit{r.Unit(r.Catalog.Type("AWS.Test.Node"), "test")}}, posture.RunScope{})
	want := map[posture.EntityType]posture.CollectorResult{"AWS.Test.Node": {Status: posture.CollectorSuccess, Entities: 1, Gone: 1}}
	if diff := cmp.Diff(want, got.Collectors); diff != "" || got.Status != posture.RunCompleted {
		t.Errorf("%s (-want +got)\n%s", got.Status, diff)
	}
	if diff := cmp.Diff(map[string]string{"AWS.Test.Node eu-west-1": "1, complete true"}, saved); diff != "" {
		t.Errorf("saved (-want +got)\n%s", diff)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, tt := range []struct {
		name    string
		cloud   cloud
		status  posture.RunStatus
		account posture.AccountStatus
		bucket  posture.CollectorResult
		saved   map[string]string
	}{
		{
			"all is read", cloud{units: []collect.Unit{unit(bucket, "global", 2, nil, nil)}},
			posture.RunCompleted, posture.AccountActive, posture.CollectorResult{Status: posture.CollectorSuccess, Entities: 2},
			map[string]string{"AWS.S3.Bucket global": "2, complete true"},
		},
		{
			"a detail is denied", cloud{units: []collect.Unit{unit(bucket, "global", 2, denied, nil)}},
			posture.RunCompletedWithErrors, posture.AccountActive,
			posture.CollectorResult{Status: posture.CollectorErrors, Entities: 2, Errors: []string{"0: permission s3:GetBucketPolicy is missing"}},
			map[string]string{"AWS.S3.Bucket global": "2, complete true"},
		},
		{
			"one region fails", cloud{units: []collect.Unit{unit(bucket, "a", 1, nil, nil), unit(bucket, "b", 1, nil, boom)}},
			posture.RunCompletedWithErrors, posture.AccountActive,
			posture.CollectorResult{Status: posture.CollectorErrors, Entities: 2, Errors: []string{"b: boom"}},
			map[string]string{"AWS.S3.Bucket a": "1, complete true", "AWS.S3.Bucket b": "1, complete false"},
		},
		{
			"one type fails", cloud{units: []collect.Unit{unit(bucket, "global", 0, nil, boom), unit(key, "a", 1, nil, nil)}},
			posture.RunCompletedWithErrors, posture.AccountActive, posture.CollectorResult{Status: posture.CollectorFailure, Message: "boom"},
			map[string]string{"AWS.S3.Bucket global": "0, complete false", "AWS.KMS.Key a": "1, complete true"},
		},
		{
			"a service is off", cloud{units: []collect.Unit{unit(bucket, "global", 0, nil, collect.ErrOff)}},
			posture.RunCompleted, posture.AccountActive, posture.CollectorResult{Status: posture.CollectorSuccess, NotEnabled: []string{"global"}},
			map[string]string{"AWS.S3.Bucket global": "0, complete true"},
		},
		{
			"regions without the service",
			cloud{units: []collect.Unit{
				unit(bucket, "a", 1, nil, nil), unit(bucket, "c", 0, nil, collect.ErrNotOffered), unit(bucket, "b", 0, nil, fmt.Errorf("x: %w", collect.ErrNotOffered)),
				unit(bucket, "d", 0, nil, fmt.Errorf("y: %w", collect.ErrOff)),
			}},
			posture.RunCompleted, posture.AccountActive,
			posture.CollectorResult{Status: posture.CollectorSuccess, Entities: 1, NotEnabled: []string{"d"}, NotOffered: []string{"b", "c"}},
			map[string]string{
				"AWS.S3.Bucket a": "1, complete true", "AWS.S3.Bucket b": "0, complete true", "AWS.S3.Bucket c": "0, complete true", "AWS.S3.Bucket d": "0, complete true",
			},
		},
		{
			"everything is denied", cloud{units: []collect.Unit{unit(bucket, "global", 0, nil, denied)}},
			posture.RunFailed, posture.AccountDenyAccess,
			posture.CollectorResult{Status: posture.CollectorErrors, Errors: []string{"permission s3:GetBucketPolicy is missing"}},
			map[string]string{"AWS.S3.Bucket global": "0, complete false"},
		},
		{
			"nothing can be read", cloud{units: []collect.Unit{unit(bucket, "global", 0, nil, boom)}},
			posture.RunFailed, "", posture.CollectorResult{Status: posture.CollectorFailure, Message: "boom"},
			map[string]string{"AWS.S3.Bucket global": "0, complete false"},
		},
		{
			"the credential expires during the run", cloud{units: []collect.Unit{unit(bucket, "global", 1, nil, collect.ErrIdentity), unit(key, "a", 1, nil, nil)}},
			posture.RunFailed, posture.AccountValidationFailed, posture.CollectorResult{Status: posture.CollectorFailure, Entities: 1, Message: "the cloud refuses the credential"},
			map[string]string{"AWS.S3.Bucket global": "1, complete false", "AWS.KMS.Key a": "1, complete true"},
		},
		{"the credential is refused", cloud{open: collect.ErrIdentity}, posture.RunFailed, posture.AccountValidationFailed, posture.CollectorResult{}, map[string]string{}},
		{"opening is denied", cloud{open: denied}, posture.RunFailed, posture.AccountDenyAccess, posture.CollectorResult{}, map[string]string{}},
		{"the cloud is unreachable", cloud{open: boom}, posture.RunFailed, "", posture.CollectorResult{}, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, saved := run(t, t.Context(), tt.cloud, posture.RunScope{})
			if got.Status != tt.status || got.Account != tt.account {
				t.Errorf("run %s, account %q, want %s, %q", got.Status, got.Account, tt.status, tt.account)
			}
			if diff := cmp.Diff(tt.bucket, got.Collectors[bucket]); diff != "" {
				t.Errorf("buckets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.saved, saved); diff != "" {
				t.Errorf("saved (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHangingCollectorTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := collect.Unit{Type: bucket, Region: "global", List: func(ctx context.Context, _ collect.Emit) error {
			<-ctx.Done()
			return fmt.Errorf("list buckets: %w", ctx.Err())
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, _ := run(t, ctx, cloud{units: []collect.Unit{hang, unit(key, "a", 1, nil, nil)}}, posture.RunScope{})
		if got.Status != posture.RunTimeout || got.Collectors[bucket].Status != posture.CollectorTimeout || got.Collectors[key].Status != posture.CollectorSuccess {
			t.Errorf("run %s, buckets %v, keys %v", got.Status, got.Collectors[bucket], got.Collectors[key])
		}
	})
}

// TestMessageOfATimeout has one unit of a type time out and another one fail after it.
func TestMessageOfATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ collect.Emit) error {
			<-ctx.Done()
			return ctx.Err()
		}
		fail := func(ctx context.Context, _ collect.Emit) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return errors.New("broken answer")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, _ := run(t, ctx, cloud{units: []collect.Unit{{Type: bucket, Region: "a", List: hang}, {Type: bucket, Region: "b", List: fail}}}, posture.RunScope{})
		if r := got.Collectors[bucket]; r.Status != posture.CollectorTimeout || r.Message != "not read in time" {
			t.Errorf("buckets %s, %q", r.Status, r.Message)
		}
	})
}

func TestRunScope(t *testing.T) {
	t.Parallel()
	c := cloud{units: []collect.Unit{unit(bucket, "a", 1, nil, nil), unit(bucket, "b", 1, nil, nil), unit(key, "a", 1, nil, nil)}}
	got, saved := run(t, t.Context(), c, posture.RunScope{Regions: []string{"A"}, Services: []string{"s3"}})
	if len(saved) != 1 || saved["AWS.S3.Bucket a"] == "" || got.Units != 1 {
		t.Errorf("read %v", saved)
	}
	// A list of Azure covers all regions, so it is read; a global list of AWS is not.
	const disk = posture.EntityType("Azure.Compute.Disk")
	c = cloud{units: []collect.Unit{unit(bucket, posture.Global, 1, nil, nil), unit(disk, posture.Global, 1, nil, nil)}}
	if _, saved := run(t, t.Context(), c, posture.RunScope{Regions: []string{"a"}}); len(saved) != 1 || saved["Azure.Compute.Disk global"] == "" {
		t.Errorf("read %v", saved)
	}
}

// outage is a recorder whose first calls of each kind fail: the database is unavailable.
type outage struct {
	commitRecorder
	begins, puts, commits int // how many more calls fail
}

type outageRecording struct {
	collect.Recording
	from *outage
}

func (o *outage) fail(remaining *int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if *remaining == 0 {
		return nil
	}
	*remaining--
	return fault.New(fault.Unavailable, "the database is not available")
}

func (o *outage) Begin(ctx context.Context, s collect.Scoped) (collect.Recording, error) {
	if err := o.fail(&o.begins); err != nil {
		return nil, err
	}
	r, err := o.commitRecorder.Begin(ctx, s)
	return outageRecording{r, o}, err
}

func (r outageRecording) Put(ctx context.Context, e posture.Entity) error {
	if err := r.from.fail(&r.from.puts); err != nil {
		return err
	}
	return r.Recording.Put(ctx, e)
}

func (r outageRecording) Commit(ctx context.Context, complete bool) error {
	if err := r.from.fail(&r.from.commits); err != nil {
		return err
	}
	return r.Recording.Commit(ctx, complete)
}

func TestRunWaitsForDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &outage{commitRecorder: commitRecorder{committed: map[string]string{}}, begins: 2, puts: 3, commits: 4}
		c := cloud{units: []collect.Unit{unit("AWS.EC2.Instance", "eu", 2, nil, nil)}}
		r := collect.Runner{Sources: map[posture.Provider]collect.Source{posture.AWS: c}, Recorder: o, Parallel: 1, Log: slog.New(slog.DiscardHandler)}
		got := r.Run(t.Context(), posture.Access{Account: posture.Account{Provider: posture.AWS}}, posture.RunScope{}, nil)
		if got.Status != posture.RunCompleted || got.Entities != 2 {
			t.Errorf("%s with %d entities: %v", got.Status, got.Entities, got.Collectors)
		}
		if diff := cmp.Diff(map[string]string{"AWS.EC2.Instance eu": "2, complete true"}, o.committed); diff != "" {
			t.Errorf("committed (-want +got):\n%s", diff)
		}
	})
}

func TestRunStopsWaitingAtDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o := &outage{commitRecorder: commitRecorder{committed: map[string]string{}}, begins: 1 << 30} // never available
		c := cloud{units: []collect.Unit{unit("AWS.EC2.Instance", "eu", 2, nil, nil)}}
		r := collect.Runner{Sources: map[posture.Provider]collect.Source{posture.AWS: c}, Recorder: o, Parallel: 1, Log: slog.New(slog.DiscardHandler)}
		got := r.Run(ctx, posture.Access{Account: posture.Account{Provider: posture.AWS}}, posture.RunScope{}, nil)
		if got.Status != posture.RunTimeout {
			t.Errorf("%s, want %s", got.Status, posture.RunTimeout)
		}
	})
}

// regionCloud is a cloud whose regions can be disabled.
type regionCloud struct{ cloud }

func (regionCloud) Closed(string) bool { return false }
func (c regionCloud) Open(context.Context, posture.Access) (collect.Session, error) {
	return c, nil
}

// coverageRecorder is a recorder with stored scopes.
type coverageRecorder struct {
	*commitRecorder
	stored    []posture.Coverage
	forgotten []string
}

func (r *coverageRecorder) Coverage(context.Context, posture.OrgID, posture.AccountID) ([]posture.Coverage, error) {
	return r.stored, nil
}

func (r *coverageRecorder) ForgetCoverage(_ context.Context, _ posture.OrgID, _ posture.AccountID, regions []string) error {
	r.forgotten = append(r.forgotten, regions...)
	return nil
}

func TestOnlyTheRegionsOfTheSettingsAreRead(t *testing.T) {
	t.Parallel()
	listed := collect.Unit{Type: bucket, Region: posture.Global, List: func(_ context.Context, emit collect.Emit) error {
		for _, region := range []string{"eu-west-1", "us-east-1", posture.Global} {
			if err := emit(collect.NewResource(bucket, "123456789012", region, "in-"+region)); err != nil {
				return err
			}
		}
		return nil
	}}
	recorder := &coverageRecorder{commitRecorder: &commitRecorder{committed: map[string]string{}}, stored: []posture.Coverage{
		{Type: key, Region: "us-east-1", Regions: []string{"us-east-1"}}, {Type: key, Region: "eu-west-1", Regions: []string{"eu-west-1"}},
		{Type: bucket, Region: "us-east-1"}, // has no entities to remove
	}}
	c := regionCloud{cloud{units: []collect.Unit{listed, unit(key, "eu-west-1", 1, nil, nil), unit(key, "us-east-1", 1, nil, errors.New("must not be called"))}}}
	r := &collect.Runner{Sources: map[posture.Provider]collect.Source{posture.AWS: c}, Recorder: recorder, Parallel: 3, Log: slog.New(slog.DiscardHandler)}
	access := posture.Access{Org: "org", Account: posture.Account{
		ID: "123456789012", Provider: posture.AWS, Collection: posture.CollectionSettings{Regions: []string{"eu-west-1", "eu-west-9"}},
	}}
	o := r.Run(t.Context(), access, posture.RunScope{}, nil)
	if o.Status != posture.RunCompletedWithErrors || o.Reason != "regions that the account has not enabled: eu-west-9" {
		t.Errorf("the run ended as %s: %q, want %s, because eu-west-9 is not enabled", o.Status, o.Reason, posture.RunCompletedWithErrors)
	}
	want := map[string]string{
		"AWS.S3.Bucket global": "2, complete true", "AWS.KMS.Key eu-west-1": "1, complete true", "AWS.KMS.Key us-east-1": "0, complete true",
	}
	if diff := cmp.Diff(want, recorder.committed); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"us-east-1"}, recorder.forgotten); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}
