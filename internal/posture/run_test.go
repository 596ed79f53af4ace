package posture_test

import (
	"fmt"
	"testing"

	"vigil/internal/posture"
)

func TestNextRunSpreadsAccountsOverTheInterval(t *testing.T) {
	t.Parallel()
	const accounts, parts = 1200, 12
	due := make([]int, parts) // number of accounts by the part of the interval in which they are due
	for i := range accounts {
		next := posture.DefaultPlan.Next("org", posture.AccountID(fmt.Sprintf("%012d", i)), now)
		wait := next.Sub(now)
		if wait <= 0 || wait > posture.Interval+posture.Interval/48 { // Next keeps 1/48 free after a run
			t.Fatalf("account %d is due after %v", i, wait)
		}
		again := posture.DefaultPlan.Next("org", posture.AccountID(fmt.Sprintf("%012d", i)), next)
		if again.Sub(next) != posture.Interval {
			t.Fatalf("account %d is due again after %v", i, again.Sub(next))
		}
		due[int(wait/(posture.Interval/parts))%parts]++
	}
	for part, n := range due {
		if n > accounts/parts*2 {
			t.Errorf("%d of %d accounts are due in part %d of %d of the interval", n, accounts, part, parts)
		}
	}
}

func TestRunScope(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scope posture.RunScope
		want  bool
	}{
		{posture.RunScope{}, true},
		{posture.RunScope{Regions: []string{"eu-west-1"}}, true},
		{posture.RunScope{Regions: []string{"us-east-1"}}, false},
		{posture.RunScope{Services: []string{"ec2"}}, true},
		{posture.RunScope{Types: []posture.EntityType{"AWS.S3.Bucket"}}, false},
		{posture.RunScope{Services: []string{"EC2"}, Types: []posture.EntityType{"aws.ec2.instance"}}, true},
	} {
		if got := tt.scope.Covers("AWS.EC2.Instance", "eu-west-1"); got != tt.want {
			t.Errorf("%+v covers = %v, want %v", tt.scope, got, tt.want)
		}
	}
}
