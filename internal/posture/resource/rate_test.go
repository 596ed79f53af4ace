package resource_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture/resource"
)

func TestRatesOfCalls(t *testing.T) {
	t.Parallel()
	queue := func(name, rate string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("type: AWS.SQS." + name + "\ndoc: A queue.\nscope: region\nlist: [{call: sqs.ListQueues, " + rate + "items: QueueUrls}]\nname: '@this'\n")}
	}
	c, err := resource.Load(resource.Functions{}, fstest.MapFS{"aws/sqs/a.yaml": queue("A", "rate: 20, "), "aws/sqs/b.yaml": queue("B", "")})
	if err != nil || c.Rate("sqs.ListQueues") != 20 || c.Rate("sqs.GetQueueAttributes") != 0 {
		t.Fatalf("rate %v, %v", c.Rate("sqs.ListQueues"), err)
	}
	_, err = resource.Load(resource.Functions{}, fstest.MapFS{"aws/sqs/a.yaml": queue("A", "rate: 20, "), "aws/sqs/b.yaml": queue("B", "rate: 30, ")})
	if err == nil || !strings.Contains(err.Error(), "aws/sqs/b.yaml: another type states 20 as the rate of sqs.ListQueues") {
		t.Errorf("two rates of a call: %v", err)
	}
	_, err = resource.Load(resource.Functions{}, fstest.MapFS{"aws/sqs/a.yaml": queue("A", "rate: -1, ")})
	if err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Errorf("a negative rate: %v", err)
	}
}
