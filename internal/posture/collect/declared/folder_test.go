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

// TestMistakesAreNamedWithFileAndLine loads folders with one mistake each.
func TestMistakesAreNamedWithFileAndLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		topic + "nothing: 1\n":                                                                        `line 6: there is no "nothing" here`,
		topic + "properties:\n  a: {at: Nothing, doc: d}\n":                                           "line 7: property a: Nothing",
		topic + "properties:\n  a: {at: TopicArn, type: text, doc: d}\n":                              `line 7: property a: there is no type "text"`,
		topic + "edges:\n  IN:\n    {to: AWS.SNS.Nothing, ref: TopicArn, doc: d}\n":                   "line 7: edge IN leads to AWS.SNS.Nothing",
		topic + "calls:\n  - {call: sns.GetTopicAttributes}\n":                                        "line 7: sns.GetTopicAttributes: its input needs TopicArn",
		topic + "derive: [aws.nothing]\n":                                                             "line 6: there is no function aws.nothing",
		strings.Replace(topic, "ListTopics", "ListNothing", 1):                                        "line 4: sns.ListNothing: there is no such read operation",
		strings.Replace(topic, "OwnTopic", "Topic", 1):                                                "line 1: AWS.SNS.Topic is declared in aws/sns/topic.yaml already",
		strings.Replace(topic, "name: TopicArn\n", "", 1):                                             "line 1: it does not say what its resources are called",
		strings.Replace(topic, "scope: region", "scope: planet", 1):                                   `line 3: scope is "planet"`,
		"type: Azure.Compute.OwnDisk\ndoc: A disk.\narm: Microsoft.Compute/disks\n":                   "line 3: arm has a resource type and, after @",
		"type: Azure.Compute.OwnDisk\ndoc: A disk.\narm: Microsoft.A/b/c@1\nin: Azure.Compute.Disk\n": "line 3: Microsoft.A/b/c does not begin with",
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
			t.Errorf("%s\ncomes to %v, want %q", text, err, want)
		}
	}
	if _, err := declared.Load(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a folder that is not there is no mistake")
	}
}
