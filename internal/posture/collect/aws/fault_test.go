package aws_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	a := c.Account(0)
	stranger := c.options
	stranger.Identity = aws.Identity{AccessKeyID: "AKIASTRANGER", SecretAccessKey: "x"}
	for name, test := range map[string]struct {
		options aws.Options
		access  posture.Access
		status  posture.AccountStatus
		reason  string
		fails   bool
	}{
		"a good role":                     {c.options, c.access(0), posture.AccountActive, "", false},
		"a wrong external id":             {c.options, accessTo(a.ID, a.RoleArn, "guess"), posture.AccountValidationFailed, "external id", false},
		"no external id":                  {c.options, accessTo(a.ID, a.RoleArn, ""), posture.AccountValidationFailed, "trust policy", false},
		"an unknown role":                 {c.options, accessTo(a.ID, a.RoleArn+"x", a.ExternalID), posture.AccountValidationFailed, a.RoleArn + "x", false},
		"a role of another account":       {c.options, accessTo("123456789012", a.RoleArn, a.ExternalID), posture.AccountValidationFailed, "123456789012", false},
		"not a role":                      {c.options, accessTo(a.ID, "nonsense", a.ExternalID), posture.AccountValidationFailed, "role", false},
		"a role without permissions":      {c.options, accessTo(a.ID, a.DeniedRoleArn, a.ExternalID), posture.AccountDenyAccess, "ec2:DescribeRegions", false},
		"wrong credentials of the server": {stranger, c.access(0), "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			status, reason, err := aws.New(test.options).Validate(t.Context(), test.access)
			if status != test.status || !strings.Contains(reason, test.reason) || (err != nil) != test.fails {
				t.Errorf("got %q, %q, %v; want %q with %q", status, reason, err, test.status, test.reason)
			}
			if strings.Contains(reason, a.ExternalID) {
				t.Errorf("the reason contains the external id: %q", reason)
			}
		})
	}
}

func TestValidateUnreachableCloud(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	c.fault(t, gateway.Fault{Match: gateway.Call{Service: "sts"}, Kind: gateway.Fail})
	c.options.Attempts = 1
	if status, reason, err := aws.New(c.options).Validate(t.Context(), c.access(0)); err == nil {
		t.Errorf("got %q, %q", status, reason)
	}
}

func (c *cloud) fault(t *testing.T, f gateway.Fault) {
	t.Helper()
	if _, err := c.gateway.Faults.Add(f); err != nil {
		t.Fatal(err)
	}
}

func TestMembersOfAnOrganisation(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Accounts: 45})
	source := aws.New(c.options)
	members, err := source.Members(t.Context(), c.access(0))
	if err != nil || len(members) != 45 {
		t.Fatalf("%d members, %v", len(members), err)
	}
	if m := members[0]; !m.Root || m.State != "ACTIVE" || m.ID != posture.AccountID(c.Account(0).ID) || m.Name == "" || m.Email == "" {
		t.Errorf("the first is %+v", m)
	}
	if members[1].Root {
		t.Error("the second account is reported as the management account")
	}
	if _, err := source.Members(t.Context(), c.access(1)); !errors.Is(err, collect.ErrDenied) || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "organizations:ListAccounts") {
		t.Errorf("Members with a role of a member account: %v", err)
	}
	wrong := accessTo(c.Account(0).ID, c.Account(0).RoleArn, "another")
	if _, err := source.Members(t.Context(), wrong); !errors.Is(err, collect.ErrIdentity) || !fault.Is(err, fault.Invalid) {
		t.Errorf("with another external id: %v", err)
	}
	c.fault(t, gateway.Fault{Match: gateway.Call{Service: "organizations"}, Kind: gateway.Fail})
	if _, err := source.Members(t.Context(), c.access(0)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Members while AWS fails: %v, want an error of the kind Unavailable", err)
	}
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	if got, err := aws.New(c.options).Principal(t.Context()); err != nil || got != "arn:aws:iam::111111111111:user/collector" {
		t.Errorf("Principal = %q, %v", got, err)
	}
	c.fault(t, gateway.Fault{Match: gateway.Call{Service: "sts"}, Kind: gateway.Fail})
	if got, err := aws.New(c.options).Principal(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Principal while AWS fails: %q, %v, want an error of the kind Unavailable", got, err)
	}
}

// stsHost is a transport that answers every call with the caller identity and records the hosts.
type stsHost struct{ hosts []string }

func (s *stsHost) RoundTrip(r *http.Request) (*http.Response, error) {
	s.hosts = append(s.hosts, r.URL.Host)
	text := `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws-us-gov:iam::111111111111:user/collector</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// TestPrincipalInPartition configures a region of each partition. Credentials are valid in one
// partition only, so the call must go to a host of that partition.
func TestPrincipalInPartition(t *testing.T) {
	for region, host := range map[string]string{"us-gov-east-1": "sts.us-gov-west-1.amazonaws.com", "cn-north-1": "sts.cn-north-1.amazonaws.com.cn", "eu-west-1": "sts.us-east-1.amazonaws.com"} {
		t.Setenv("AWS_REGION", region)
		sts := &stsHost{}
		source := aws.New(aws.Options{HTTP: &http.Client{Transport: sts}, Identity: aws.Identity{AccessKeyID: "AKIATEST", SecretAccessKey: "x"}})
		got, err := source.Principal(t.Context())
		if err != nil || got != "arn:aws-us-gov:iam::111111111111:user/collector" || !slices.Equal(sts.hosts, []string{host}) {
			t.Errorf("%s: Principal = %q, %v, from the hosts %q; want %s", region, got, err, sts.hosts, host)
		}
	}
}

func TestThrottledCallsAreRetried(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	source := aws.New(c.options)
	want := collecttest.All(t, source, c.access(0))
	for _, service := range []string{"ec2", "iam", "s3", "kms", "lambda"} { // one of each protocol
		c.fault(t, gateway.Fault{Match: gateway.Call{Service: service}, Kind: gateway.Throttle, Rate: 0.2})
	}
	limits := &countingLimiter{}
	c.options.Limiter, c.options.Attempts = limits, 8
	got := collecttest.All(t, aws.New(c.options), c.access(0))
	if len(got.Failures) > 0 || len(got.Entities) != len(want.Entities) {
		t.Errorf("%d entities, want %d; %v", len(got.Entities), len(want.Entities), got.Failures)
	}
	limits.mu.Lock()
	defer limits.mu.Unlock()
	for _, service := range []string{"ec2", "iam", "s3", "kms", "lambda"} {
		waited, throttled := 0, 0
		for key, n := range limits.waited {
			if key.Account == posture.AccountID(c.Account(0).ID) && key.Region == "us-east-1" && key.Service == service {
				waited, throttled = waited+n, throttled+limits.throttled[key]
			}
		}
		if throttled == 0 || waited == 0 {
			t.Errorf("%s: %d throttles of %d calls were reported", service, throttled, waited)
		}
	}
}

// countingLimiter is a limiter that counts calls and throttles.
type countingLimiter struct {
	mu                sync.Mutex
	waited, throttled map[collect.Key]int
	after             time.Duration
}

func (l *countingLimiter) Wait(ctx context.Context, k collect.Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waited == nil {
		l.waited, l.throttled = map[collect.Key]int{}, map[collect.Key]int{}
	}
	l.waited[k]++
	return ctx.Err()
}

func (l *countingLimiter) Throttled(k collect.Key, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.throttled[k]++
	l.after = max(l.after, after)
}

func TestPermanentThrottlingIsReported(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	c.fault(t, gateway.Fault{Match: gateway.Call{Action: "DescribeVolumes"}, Kind: gateway.Throttle, RetryAfter: gateway.Duration(time.Second)})
	limits := &countingLimiter{}
	c.options.Limiter, c.options.Attempts = limits, 2
	begin := time.Now()
	got := collecttest.All(t, aws.New(c.options), c.access(0), "AWS.EC2.Volume")
	if errs := got.Failures["AWS.EC2.Volume"]; len(errs) != 1 || !errors.Is(errs[0], collect.ErrThrottled) {
		t.Errorf("the list of volumes fails with %v, want ErrThrottled", errs)
	}
	if limits.after != time.Second || time.Since(begin) < time.Second {
		t.Errorf("the response asks for a pause of 1s; the limiter got %v after %v", limits.after, time.Since(begin))
	}
}

func TestExpiredSessionIsRenewed(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	// One service of each protocol reports once that the session has expired.
	for _, service := range []string{"ec2", "iam", "s3", "kms", "dynamodb", "lambda", "monitoring"} {
		c.fault(t, gateway.Fault{Match: gateway.Call{Service: service}, Kind: gateway.Expire, Skip: 2, Times: 1})
	}
	got := collecttest.All(t, aws.New(c.options), c.access(0))
	if len(got.Failures) > 0 {
		t.Errorf("failures %v, want none", got.Failures)
	}
	if n := c.gateway.Faults.Calls()[gateway.Call{Cloud: "aws", Region: "us-east-1", Service: "sts", Action: "AssumeRole"}]; n < 4 {
		t.Errorf("%d sessions were requested, want at least 4", n)
	}
}

func TestSessionsAreRenewedBeforeExpiry(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Now()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	// The clock of the simulated cloud is slow, so that its sessions of 15 minutes expire ten
	// seconds from now. The client renews a session at least 45 seconds before it expires, and
	// thus renews these sessions for every call.
	c.options.SessionLength = 15 * time.Minute
	mu.Lock()
	now = now.Add(-14*time.Minute - 50*time.Second)
	mu.Unlock()
	got := collecttest.All(t, aws.New(c.options), c.access(0), "AWS.EC2.Vpc", "AWS.EC2.Volume")
	if len(got.Failures) > 0 {
		t.Errorf("failures %v, want none", got.Failures)
	}
	if n := c.gateway.Faults.Calls()[gateway.Call{Cloud: "aws", Region: "us-east-1", Service: "sts", Action: "AssumeRole"}]; n < 3 {
		t.Errorf("%d sessions were requested, want at least 3", n)
	}
}

func TestPermanentlyRefusedSession(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	c.fault(t, gateway.Fault{Match: gateway.Call{Service: "s3", Action: "GetBucketAcl"}, Kind: gateway.Expire})
	got := collecttest.All(t, aws.New(c.options), c.access(0), "AWS.S3.Bucket")
	if errs := got.Failures["AWS.S3.Bucket"]; len(errs) != 1 || !errors.Is(errs[0], collect.ErrIdentity) {
		t.Errorf("the list of buckets fails with %v, want ErrIdentity", errs)
	}
}

// TestMalformedResponses checks that garbage, a truncated response, a cut connection, no
// response or an internal error fails the unit but not the run, and that nothing is
// reported as absent.
func TestMalformedResponses(t *testing.T) {
	t.Parallel()
	calls := map[posture.EntityType]gateway.Call{ // one of each protocol
		"AWS.EC2.Vpc":          {Service: "ec2", Action: "DescribeVpcs"},
		"AWS.IAM.Role":         {Service: "iam", Action: "GetAccountAuthorizationDetails"},
		"AWS.S3.Bucket":        {Service: "s3", Action: "ListBuckets"},
		"AWS.KMS.Key":          {Service: "kms", Action: "ListKeys"},
		"AWS.DynamoDB.Table":   {Service: "dynamodb", Action: "ListTables"},
		"AWS.Lambda.Function":  {Service: "lambda", Action: "ListFunctions"},
		"AWS.CloudWatch.Alarm": {Service: "monitoring", Action: "DescribeAlarms"},
		"AWS.EFS.FileSystem":   {Service: "elasticfilesystem", Action: "DescribeFileSystems"},
	}
	for _, kind := range []gateway.Kind{gateway.Garbage, gateway.Half, gateway.Reset, gateway.Fail, gateway.Hang, gateway.Stall} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			slow := kind == gateway.Hang || kind == gateway.Stall
			c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
			var types []posture.EntityType
			for entity, call := range calls {
				if slow && call.Service != "ec2" && call.Service != "kms" {
					continue // hanging is slow: one XML and one JSON service are enough
				}
				types = append(types, entity)
				c.fault(t, gateway.Fault{Match: call, Kind: kind})
			}
			c.options.Attempts = 2
			if slow { // the others must not run out of time on a busy machine
				c.options.Timeout = 2 * time.Second
			}
			got := collecttest.All(t, aws.New(c.options), c.access(0), types...)
			for _, entity := range types {
				if errs := got.Failures[entity]; len(errs) != 1 || errors.Is(errs[0], collect.ErrGone) || errors.Is(errs[0], collect.ErrOff) || collect.IsFatal(errs[0]) {
					t.Errorf("%s: %v, with %d entities", entity, errs, len(got.EntitiesOf(entity)))
				}
			}
		})
	}
}

func TestHangingCallEndsWithContext(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	c.fault(t, gateway.Fault{Match: gateway.Call{Action: "DescribeVolumes"}, Kind: gateway.Hang})
	session, err := aws.New(c.options).Open(t.Context(), c.access(0))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	unit, _ := session.Unit("AWS.EC2.Volume", "us-east-1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = unit.List(ctx, func(*collect.Resource) error { return nil })
	if !collect.IsFatal(err) {
		t.Errorf("%v is not the end of the run", err)
	}
}

func TestServiceNotEnabledIsNoError(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	c.fault(t, gateway.Fault{Match: gateway.Call{Service: "redshift"}, Kind: gateway.Off})
	got := collecttest.All(t, aws.New(c.options), c.access(0), "AWS.Redshift.Cluster")
	if errs := got.Failures["AWS.Redshift.Cluster"]; len(errs) != 1 || !errors.Is(errs[0], collect.ErrOff) {
		t.Errorf("the list of clusters fails with %v, want ErrOff", errs)
	}
}

func TestPagination(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Size: 9000, Regions: []string{"us-east-1"}, Shares: world.Shares{Default: -1}})
	got := collecttest.All(t, aws.New(c.options), c.access(0), "AWS.EC2.Instance", "AWS.EC2.Volume", "AWS.IAM.User", "AWS.IAM.Role", "AWS.SNS.Topic", "AWS.SQS.Queue",
		"AWS.DynamoDB.Table", "AWS.Lambda.Function", "AWS.RDS.DBInstance", "AWS.Logs.LogGroup", "AWS.CloudWatch.Alarm", "AWS.SSM.Parameter", "AWS.SecretsManager.Secret")
	if len(got.Failures) > 0 {
		t.Fatal(got.Failures)
	}
	calls := map[string]int{}
	for call, n := range c.gateway.Faults.Calls() {
		calls[call.Action] += n
	}
	for kind, test := range map[posture.EntityType]struct {
		action string
		pages  int
	}{
		"AWS.EC2.Instance": {"DescribeInstances", 2}, "AWS.EC2.Volume": {"DescribeVolumes", 4}, "AWS.SNS.Topic": {"ListTopics", 2},
		"AWS.DynamoDB.Table": {"ListTables", 2}, "AWS.Lambda.Function": {"ListFunctions", 8}, "AWS.Logs.LogGroup": {"DescribeLogGroups", 11},
		"AWS.CloudWatch.Alarm": {"DescribeAlarms", 3}, "AWS.SSM.Parameter": {"DescribeParameters", 8}, "AWS.SecretsManager.Secret": {"ListSecrets", 2},
	} {
		if n := calls[test.action]; n != test.pages {
			t.Errorf("%s took %d pages, want %d", kind, n, test.pages)
		}
	}
	place := world.Place{Account: c.Account(0).ID, Region: "us-east-1"}
	for _, kind := range []posture.EntityType{"AWS.EC2.Instance", "AWS.EC2.Volume", "AWS.SNS.Topic", "AWS.SQS.Queue", "AWS.DynamoDB.Table", "AWS.Lambda.Function", "AWS.Logs.LogGroup"} {
		n := 0
		for ; ; n++ {
			if _, _, ok := c.Resource(kind, place, n); !ok {
				break
			}
		}
		if len(got.EntitiesOf(kind)) != n {
			t.Errorf("%s: %d were read of %d", kind, len(got.EntitiesOf(kind)), n)
		}
	}
}

func TestAccountsAreIsolated(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Accounts: 2, Regions: []string{"us-east-1"}})
	source := aws.New(c.options)
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() {
			got := collecttest.All(t, source, c.access(i))
			other := c.Account(1 - i).ID
			// The entity of the account itself names the management account of the organisation.
			for id, e := range got.Entities {
				if string(e.Account) != c.Account(i).ID || strings.Contains(text(t, e), other) && e.Type != "AWS.Account.Account" {
					t.Errorf("%s of account %d refers to the other account", id, i)
				}
			}
		})
	}
	group.Wait()
}

func TestReadingIsDeterministic(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	source := aws.New(c.options)
	first, second := collecttest.All(t, source, c.access(0)), collecttest.All(t, source, c.access(0))
	if len(first.Entities) != len(second.Entities) {
		t.Errorf("%d entities, then %d", len(first.Entities), len(second.Entities))
	}
	for id, e := range first.Entities {
		if text(t, e) != text(t, second.Entities[id]) {
			t.Errorf("%s:\n%s\n%s", id, text(t, e), text(t, second.Entities[id]))
		}
	}
}

// unresolvable is a round tripper that cannot resolve one host.
type unresolvable struct {
	http.RoundTripper
	host string
}

func (n unresolvable) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == n.host {
		return nil, &net.DNSError{Err: "no such host", Name: n.host, IsNotFound: true}
	}
	return n.RoundTripper.RoundTrip(r)
}

func TestServiceNotOfferedInRegion(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1, Regions: []string{"us-east-1"}})
	c.options.HTTP.Transport = unresolvable{c.options.HTTP.Transport, "redshift.us-east-1.amazonaws.com"}
	for name, test := range map[string]struct {
		known bool // EC2 has a host in the region
		off   bool
	}{
		"the region has other services": {true, true},
		"our resolver fails":            {false, false},
	} {
		options := c.options
		options.LookupHost = func(_ context.Context, host string) ([]string, error) {
			if host != "ec2.us-east-1.amazonaws.com" {
				t.Errorf("%s was looked up", host)
			}
			if test.known {
				return []string{"192.0.2.1"}, nil
			}
			return nil, errors.New("no such host")
		}
		got := collecttest.All(t, aws.New(options), c.access(0), "AWS.Redshift.Cluster")
		if errs := got.Failures["AWS.Redshift.Cluster"]; len(errs) != 1 || errors.Is(errs[0], collect.ErrOff) != test.off {
			t.Errorf("%s: %v, want one error, because the service is off: %t", name, errs, test.off)
		}
	}
}
