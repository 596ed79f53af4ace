package clouds

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/declared"
)

// customTypes are custom type declarations by file name.
var customTypes = map[string]string{
	"aws/sns/mail-topic.yaml": `
type: AWS.SNS.MailTopic
doc: An SNS topic and the key of its messages.
scope: region
list: [{call: sns.ListTopics, items: Topics}]
name: TopicArn
arn: "arn:aws:sns:{region}:{account}:{name}"
calls:
  - call: sns.GetTopicAttributes
    input: {TopicArn: "${TopicArn}"}
    properties:
      key: {at: Attributes.KmsMasterKeyId, absent: none, doc: The KMS key that encrypts its messages.}
events: {sns: [CreateTopic, DeleteTopic]}
namedInEvents: topicArn
`,
	"azure/compute/big-disk.yaml": `
type: Azure.Compute.BigDisk
doc: A managed disk and its size.
arm: Microsoft.Compute/disks@2023-04-02
properties:
  sizeGB: {at: properties.diskSizeGB, type: long, doc: Its size.}
`,
	"gcp/compute/big-disk.yaml": `
type: GCP.Compute.BigDisk
doc: A persistent disk and its size.
google: "compute/v1/projects/{project}/{place}/disks/{name}"
properties:
  sizeGB: {at: sizeGb, type: long, absent: 0, doc: Its size.}
`,
}

// TestAddingATypeTouchesOneFile writes declarations to a folder and collects their
// resources with the whole product. No other change is needed.
func TestAddingATypeTouchesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range customTypes {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	types, err := declared.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(bytes.Join(aws.Policies(types), nil)), `"sns:GetTopicAttributes"`) {
		t.Error("the policy does not allow the calls of the type")
	}
	for p, resource := range map[posture.Provider]struct {
		name     posture.EntityType
		property string
	}{posture.AWS: {"AWS.SNS.MailTopic", "key"}, posture.Azure: {"Azure.Compute.BigDisk", "sizeGB"}, posture.GCP: {"GCP.Compute.BigDisk", "sizeGB"}} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			r := newFixtureOf(t, types, p)
			id := r.accounts[0].Account.ID
			run := r.collect(t, id)
			if run.Status != posture.RunCompleted {
				t.Fatalf("the run ended as %s: %s", run.Status, run.Reason)
			}
			all, _ := r.known(t, id)
			found := 0
			for _, e := range all {
				if e.Type != resource.name {
					continue
				}
				found++
				if !slices.ContainsFunc(e.Properties, func(p posture.Property) bool {
					return p.Name == resource.property && p.Type != posture.UnknownProperty
				}) {
					t.Errorf("%s has no %s: %v", e.ID, resource.property, e.Properties)
				}
			}
			if found == 0 {
				t.Errorf("no %s was collected", resource.name)
			}
			// The declaration for GCP has no events. Those for Azure follow from its ARM type.
			source := r.sweep.Runner.Sources[p]
			if !slices.ContainsFunc(source.Declarations(), func(d collect.Declaration) bool {
				return d.Type == resource.name && len(d.Permissions) > 0 && (len(d.Events) > 0 || p == posture.GCP)
			}) {
				t.Errorf("%s is not among the declarations", resource.name)
			}
		})
	}
}
