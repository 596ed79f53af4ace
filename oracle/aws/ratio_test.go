package aws_test

import (
	"context"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
)

// TestCostComparedWithSDK compares the processor time and the allocations of whole calls,
// without the network, with those of the AWS SDK. It runs only when RATIO is set.
func TestCostComparedWithSDK(t *testing.T) {
	if os.Getenv("RATIO") == "" {
		t.Skip("RATIO is not set: make bench-awsapi sets it")
	}
	for _, tt := range []struct {
		service, operation string
		list               string // the list in the output that gets that many items; all members when empty
		items              int
	}{
		{"ec2", "DescribeInstances", "Reservations", 500},
		{"ec2", "DescribeSecurityGroups", "SecurityGroups", 500},
		{"iam", "GetAccountAuthorizationDetails", "UserDetailList", 200},
		{"s3", "ListObjectsV2", "Contents", 1000},
		{"lambda", "ListFunctions", "Functions", 50},
		{"dynamodb", "ListTables", "TableNames", 100},
		{"kms", "DescribeKey", "", 1},
		{"rds", "DescribeDBInstances", "DBInstances", 100},
	} {
		op, err := model.Find(tt.service, tt.operation)
		if err != nil {
			t.Fatal(err)
		}
		output := map[string]any{}
		if tt.list == "" {
			maker := awsapitest.New(1)
			maker.Plain, maker.Full = true, true
			output = maker.Output(op)
		} else {
			var items []any
			for seed := uint64(0); len(items) < tt.items; seed++ {
				maker := awsapitest.New(seed)
				maker.Plain, maker.Full = true, true
				items = append(items, maker.Output(op)[tt.list].([]any)...)
			}
			output[tt.list] = items[:tt.items]
		}
		header, body := awsapitest.Answer(op, output)
		c := &canned{header: header, body: body}
		client := clients[tt.service](config(c))
		input := awsapitest.New(1).Input(op, true)
		ownClient, err := awsapi.New(awsapi.Options{HTTP: &http.Client{Transport: c}, Credentials: config(c).Credentials, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		sdkCost := measure(t, func() error {
			_, err := callModule(context.Background(), client, op, c, input)
			return err
		})
		ownCost := measure(t, func() error {
			_, err := ownClient.Call(context.Background(), tt.service, tt.operation, region, input)
			return err
		})
		t.Logf("%-8s %-30s %8d bytes: %9v per call, SDK %9v (ratio %.2f); allocations %d, SDK %d",
			tt.service, tt.operation, len(body), ownCost.time, sdkCost.time, float64(ownCost.time)/float64(sdkCost.time), ownCost.allocations, sdkCost.allocations)
	}
}

type cost struct {
	time        time.Duration
	allocations uint64
}

// measure calls f for a second of processor time and returns the cost of one call.
func measure(t *testing.T, f func() error) cost {
	t.Helper()
	for range 3 {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, n := processorTime(), 0
	for ; processorTime()-start < time.Second; n++ {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	spent := processorTime() - start
	runtime.ReadMemStats(&after)
	return cost{spent / time.Duration(n), (after.Mallocs - before.Mallocs) / uint64(n)}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
