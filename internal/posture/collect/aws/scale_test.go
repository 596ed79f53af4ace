package aws

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// TestRateOfResources measures how long a region with 2,000 resources takes when every
// call takes 30 ms and all calls stay within half of the published limits. Time is
// simulated. 10,000 resources take five times as long.
func TestRateOfResources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  posture.EntityType
		items string // path of the items in the answer of the list
		name  string // member of an item with the resource's name
		calls int    // per resource
		limit time.Duration
	}{
		{"AWS.KMS.Key", "Keys", "KeyId", 4, 35 * time.Second},
		{"AWS.Lambda.Function", "Functions", "FunctionName", 2, 270 * time.Second},
		{"AWS.S3.Bucket", "Buckets", "Name", 11, 225 * time.Second},
	} {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n = 2_000
				items := make([]string, n)
				for i := range items {
					items[i] = fmt.Sprintf(`{"%s":"item-%d"}`, tt.name, i)
				}
				types := declared.Catalog()
				account := &limitedAccount{
					source: New(Options{}), limits: collect.NewLimits(time.Now), list: types.Type(tt.kind).List[0].Call,
					items: `{"` + tt.items + `":[` + strings.Join(items, ",") + `]}`,
				}
				reader := &collect.Reader{
					Catalog: types, Answers: collect.NewAnswers(), Transport: account,
					Context: resource.Context{Vars: resource.Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws"}, Cloud: naming.Of(posture.AWS, types)},
				}
				begin, read := time.Now(), 0
				err := reader.List(t.Context(), types.Type(tt.kind), collect.Emit(func(*collect.Resource) error { read++; return nil }).Serial())
				took := time.Since(begin)
				t.Logf("%d calls in %v", account.calls.Load(), took)
				if err != nil || read != n {
					t.Fatalf("%d of %d resources were read: %v", read, n, err)
				}
				if calls := int(account.calls.Load()); calls > n*tt.calls+1 {
					t.Errorf("%d calls, want at most %d for each of %d resources", calls, tt.calls, n)
				}
				if took > tt.limit {
					t.Errorf("%d resources took %v, want at most %v", n, took, tt.limit)
				}
			})
		})
	}
}

// limitedAccount is a transport with the rate limits of an account.
type limitedAccount struct {
	source *Source
	limits *collect.Limits
	list   string // name of the call that lists the type
	items  string // answer to this call
	calls  atomic.Int64
}

// Pages implements [collect.Transport]. Keys are customer managed. All other calls for a
// resource return an empty object.
func (a *limitedAccount) Pages(ctx context.Context, r *resource.Request, _ string, _ []byte, page func(gjson.Result) error) error {
	a.calls.Add(1)
	service, operation, _ := strings.Cut(r.Call, ".")
	if err := a.limits.Wait(ctx, a.source.limitKey("123456789012", awsapi.Attempt{Service: service, Operation: operation, Region: "eu-west-1"})); err != nil {
		return err
	}
	time.Sleep(30 * time.Millisecond)
	switch r.Call {
	case a.list:
		return page(gjson.Parse(a.items))
	case "kms.DescribeKey":
		return page(gjson.Parse(`{"KeyMetadata":{"KeyManager":"CUSTOMER","KeySpec":"SYMMETRIC_DEFAULT","Origin":"AWS_KMS","KeyState":"Enabled"}}`))
	}
	return page(gjson.Parse(`{}`))
}
