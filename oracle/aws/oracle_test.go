package aws_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// canned is an HTTP client that returns the same response to every request and stores
// the request.
type canned struct {
	header http.Header
	body   []byte
	asked  *http.Request // the last request
	sent   []byte        // its body
}

func (c *canned) Do(r *http.Request) (*http.Response, error) {
	c.asked, c.sent = r, nil
	if r.Body != nil {
		c.sent, _ = io.ReadAll(r.Body)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: c.header.Clone(), Body: io.NopCloser(bytes.NewReader(c.body)), Request: r, ContentLength: int64(len(c.body)),
	}, nil
}

// errNotSent means that the SDK module refused a generated input.
var errNotSent = errors.New("nothing was sent")

func config(c *canned) aws.Config {
	return aws.Config{
		Region: region, HTTPClient: c, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "x"}, nil
		}),
	}
}

const region = "eu-west-1"

// callModule calls an operation of an SDK module and returns its output.
func callModule(ctx context.Context, client any, op *model.Operation, c *canned, input map[string]any) (reflect.Value, error) {
	method := reflect.ValueOf(client).MethodByName(op.Name)
	if !method.IsValid() {
		return reflect.Value{}, errNotSent
	}
	in := reflect.New(method.Type().In(1).Elem())
	if op.Input != nil {
		fill(in.Elem(), op.Input, input)
	}
	c.asked = nil
	out := method.Call([]reflect.Value{reflect.ValueOf(ctx), in})
	if c.asked == nil {
		return reflect.Value{}, fmt.Errorf("%w: %v", errNotSent, out[1])
	}
	if err, _ := out[1].Interface().(error); err != nil {
		return reflect.Value{}, err
	}
	return out[0].Elem(), nil
}

// operations calls f with every operation that both sides implement. f returns how much it compared.
// That may be nothing only for the exempt operations and services.
func operations(t *testing.T, exempt map[string]string, f func(t *testing.T, client any, c *canned, op *model.Operation) int) {
	for _, service := range slices.Sorted(maps.Keys(clients)) {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			c := &canned{}
			client := clients[service](config(c))
			for _, name := range model.Operations(service) {
				op, err := model.Find(service, name)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.ValueOf(client).MethodByName(name).IsValid() {
					continue
				}
				reason := cmp.Or(exempt[service+" "+name], exempt[service], refusedInputs[service+" "+name])
				if n := f(t, client, c, op); n == 0 && reason == "" {
					t.Errorf("%s: nothing was compared", name)
				} else if n > 0 && reason != "" {
					t.Errorf("%s is compared, although it is said not to be: %s", name, reason)
				}
			}
		})
	}
}

// seeds returns the number of responses that are compared for each operation.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("ORACLE_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 5
}

// TestAnswersAreReadTheSame decodes the same responses with both decoders.
func TestAnswersAreReadTheSame(t *testing.T) {
	t.Parallel()
	operations(t, incomparable, func(t *testing.T, client any, c *canned, op *model.Operation) (n int) {
		if incomparable[op.Service.Name+" "+op.Name] != "" {
			return 0
		}
		decoder, err := wire.DecoderOf(op)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range seeds() {
			maker := awsapitest.New(seed)
			// Shapes that are unions in the SDK, but not marked as such in the models.
			maker.Full, maker.Unions = seed == 0, []string{"AnalyticsFilter", "MetricsFilter", "AttributeValue", "TrialComponentParameterValue"}
			output := maker.Output(op)
			if _, ok := output["MaxItems"].(string); ok {
				output["MaxItems"] = "7" // the module decodes it as a number
			}
			header, body := awsapitest.Answer(op, output)
			c.header, c.body = moduleAnswer(op, output, header, body)
			required := awsapitest.New(seed)
			required.Plain = true
			got, err := callModule(t.Context(), client, op, c, required.Input(op, true))
			if err != nil {
				if !errors.Is(err, errNotSent) {
					t.Errorf("%s: the module refuses the answer: %v\n%.1500s", op.Name, err, body)
				} else {
					t.Logf("%s: %v", op.Name, err)
				}
				break
			}
			answer, err := decoder.Decode(http.StatusOK, header, body)
			if err != nil {
				t.Errorf("%s: we refuse the answer: %v\n%.1500s", op.Name, err, body)
				break
			}
			d := json.NewDecoder(bytes.NewReader(answer))
			d.UseNumber()
			var ours map[string]any
			if err := d.Decode(&ours); err != nil {
				t.Fatal(err)
			}
			if difference := diff(op.Name, op.Output, ours, got); difference != "" {
				t.Errorf("%s\nThe response is %.2000s\nWe read it as %.2000s", difference, body, answer)
				break
			}
			compared.Add(1)
			n++
		}
		return n
	})
	t.Cleanup(func() {
		t.Logf("%d answers were compared", compared.Load())
		t.Logf("members of the models that the modules do not have: %v", missingMembers())
	})
}

// incomparable are the operations that cannot be compared, and why.
var incomparable = map[string]string{
	"s3 GetObject":             "its body is a stream",
	"s3 GetObjectAnnotation":   "its body is a stream",
	"s3 HeadObject":            "the module has Expires as time and as text",
	"s3 GetObjectTorrent":      "its body is a stream",
	"s3 GetBucketNotification": "deprecated: two members have the same name on the wire",
}

// refusedInputs are the operations whose generated inputs the modules refuse, and why.
var refusedInputs = map[string]string{
	"dynamodb BatchGetItem":                         "the input has unions, which are taken out",
	"dynamodb SearchVectors":                        "the input has unions, which are taken out",
	"inspector2 GetCodeSecurityScan":                "the input has unions, which are taken out",
	"kinesis DescribeChannel":                       "the module parses the ARN, which is random text",
	"kinesis GetResourcePolicy":                     "the module parses the ARN, which is random text",
	"kinesis ListStreamConsumers":                   "the module parses the ARN, which is random text",
	"kinesis ListTagsForResource":                   "the module parses the ARN, which is random text",
	"securityhub GetConfigurationPolicyAssociation": "the input has unions, which are taken out",
}

// differingRequests are the operations and services whose requests differ, and why.
var differingRequests = map[string]string{
	"cloudwatch":                    "the module uses another protocol",
	"dynamodb GetItem":              "the input has unions, which are taken out",
	"dynamodb Query":                "the input has unions, which are taken out",
	"fsx DescribeFileSystemAliases": "both sides send a random token",
	"inspector2 GetConfiguration":   "the input of the module has no members, and it sends no body",
	"s3 ListParts":                  "the module takes a number for text",
	"s3control ListRegionalBuckets": "the module goes to the Outpost that the input names",
}
