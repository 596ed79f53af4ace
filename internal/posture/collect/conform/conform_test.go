package conform_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/conform"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
)

// TestDeclarationsMatchModels checks every declared type of AWS against the models of
// its services.
func TestDeclarationsMatchModels(t *testing.T) {
	t.Parallel()
	catalog := declared.Catalog()
	for _, d := range catalog.Of(posture.AWS) {
		for _, err := range conform.AWS(catalog, d) {
			t.Errorf("%s: %v", d.File(), err)
		}
	}
}

func TestInvalidDeclarations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`list: [{call: sqs.ListNothing}]`:                                                                                                                  "no such read operation",
		`list: [{call: sqs.ListQueues, input: {Nothing: 1}, items: QueueUrls}]`:                                                                            "no member Nothing",
		`list: [{call: sqs.GetQueueAttributes, items: Attributes}]`:                                                                                        "needs QueueUrl",
		`list: [{call: sqs.ListQueues, items: Queues}]`:                                                                                                    "no member Queues",
		`{list: [{call: kms.ListKeys, items: Keys}], properties: {a: {at: Nothing, doc: d}}}`:                                                              "no member Nothing",
		`{list: [{call: kms.ListKeys, items: Keys}], properties: {a: {at: KeyId.Nothing, doc: d}}}`:                                                        "is a string",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: $name}, properties: {a: {at: KeyMetadata, doc: d}}}]}`: "the cloud returns a structure",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: $name}, properties: {a: {at: KeyMetadata.KeyState, values: [Enabled, Great], doc: d}}}]}`: `"Great" is not one of`,
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: "${^KeyId}"}}]}`:                                                                          "above the first item",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: $name}, unchanged: {Version: KeyMetadata.KeyId}}]}`:                                       "unchanged: Version: ",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: $name}, unchanged: {KeyId: KeyMetadata.Version}}]}`:                                       "unchanged: KeyMetadata.Version: ",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.DescribeKey, input: {KeyId: $name, GrantTokens: ["${Nothing}"]}}]}`:                                                   "input GrantTokens: Nothing: ",
		`list: [{call: kms.ListKeys, items: Keys}, {call: kms.DescribeKey, input: {KeyId: "${KeyId}"}, when: {Nothing: a}, items: KeyMetadata}]`:                                              "kms.DescribeKey: when: Nothing: ",
		`{list: [{call: kms.ListKeys, items: Keys}], xid: key>Nothing, calls: [{call: kms.DescribeKey, as: key, input: {KeyId: $name}, at: KeyMetadata}]}`:                                    "xid: Nothing: ",
		`{list: [{call: kms.ListKeys, items: Keys}], display: key>Nothing, calls: [{call: kms.DescribeKey, as: key, input: {KeyId: $name}, at: KeyMetadata}]}`:                                "display: Nothing: ",
		`{list: [{call: kms.ListKeys, items: Keys}], region: Nothing}`:                                                                                                                        "region: Nothing: ",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.ListAliases, at: Aliases, where: {Nothing: $name}}]}`:                                                                 "kms.ListAliases: where: Nothing: ",
		`{list: [{call: kms.ListKeys, items: Keys}], calls: [{call: kms.ListAliases, at: Aliases, find: {Nothing: $name}}]}`:                                                                  "kms.ListAliases: find: Nothing: ",
	} {
		body := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}") // texts with several members are in braces
		files := fstest.MapFS{"aws/x/y.yaml": {Data: []byte("{type: AWS.Test.Thing, doc: A thing., scope: region, name: KeyId, " + body + "}")}}
		catalog, err := resource.Load(resource.Functions{}, files)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := ""
		for _, err := range conform.AWS(catalog, catalog.Types()[0]) {
			found += err.Error() + "\n"
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}
