package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// meter is an HTTP client that fails every call and records the maximum number of
// concurrent calls.
type meter struct{ running, most atomic.Int64 }

func (m *meter) Do(*http.Request) (*http.Response, error) {
	n := m.running.Add(1)
	defer m.running.Add(-1)
	for old := m.most.Load(); n > old && !m.most.CompareAndSwap(old, n); old = m.most.Load() {
	}
	time.Sleep(100 * time.Millisecond)
	return nil, errors.New("no network")
}

func TestInstancesOfAPageAreCompletedConcurrently(t *testing.T) {
	t.Parallel()
	page := new(ec2.DescribeInstancesOutput)
	for i := range concurrentItems {
		page.Reservations = append(page.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{{
			InstanceId: aws.String(fmt.Sprintf("i-%d", i)), State: &ec2types.InstanceState{Name: ec2types.InstanceStateNameRunning},
		}}})
	}
	m := new(meter)
	client := ec2.New(ec2.Options{
		Region: region, HTTPClient: m, Retryer: aws.NopRetryer{}, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	if _, err := completeInstances(context.Background(), client, page); err == nil {
		t.Error("no error")
	}
	if got := m.most.Load(); got != concurrentItems {
		t.Errorf("%d calls at a time, want %d", got, concurrentItems)
	}
}
