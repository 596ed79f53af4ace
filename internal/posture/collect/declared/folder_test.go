package declared_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vigil/internal/posture/collect/declared"
)

const topic = `type: AWS.SNS.OwnTopic
doc: An SNS topic.
scope: region
list: [{call: sns.ListTopics, items: Topics}]
name: TopicArn
`

// TestMistakesHaveFileAndLine loads declarations with one mistake each.
func TestMistakesHaveFileAndLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		topic + "nothing: 1\n":                                                                        `line 6: unknown member "nothing"`,
		topic + "properties:\n  a: {at: Nothing, doc: d}\n":                                           "line 7: property a: Nothing",
		topic + "properties:\n  a: {at: TopicArn, type: text, doc: d}\n":                              `line 7: property a: unknown type "text"`,
		topic + "edges:\n  IN:\n    {to: AWS.SNS.Nothing, ref: TopicArn, doc: d}\n":                   "line 7: edge IN leads to AWS.SNS.Nothing",
		topic + "calls:\n  - {call: sns.GetTopicAttributes}\n":                                        "line 7: sns.GetTopicAttributes: its input needs TopicArn",
		topic + "derive: [aws.nothing]\n":                                                             "line 6: there is no function aws.nothing",
		strings.Replace(topic, "ListTopics", "ListNothing", 1):                                        "line 4: sns.ListNothing: there is no such read operation",
		strings.Replace(topic, "OwnTopic", "Topic", 1):                                                "line 1: AWS.SNS.Topic is already declared in aws/sns/topic.yaml",
		strings.Replace(topic, "name: TopicArn\n", "", 1):                                             "line 1: name is required",
		strings.Replace(topic, "scope: region", "scope: planet", 1):                                   `line 3: scope "planet" must be`,
		"type: Azure.Compute.OwnDisk\ndoc: A disk.\narm: Microsoft.Compute/disks\n":                   "line 3: arm must be a resource type, @ and",
		"type: Azure.Compute.OwnDisk\ndoc: A disk.\narm: Microsoft.A/b/c@1\nin: Azure.Compute.Disk\n": "line 3: resource type Microsoft.A/b/c does not begin with",
		topic + "x: [": "line 6",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "aws", "sns", "own.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := declared.Load(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file+": ") {
			t.Errorf("%s\nfails with %v, want %q", text, err, want)
		}
	}
	if _, err := declared.Load(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a missing folder is accepted")
	}
}
