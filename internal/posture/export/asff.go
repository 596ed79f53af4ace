package export

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"vigil/internal/posture"
)

// The size limits of the AWS Security Finding Format.
const (
	asffTitle   = 256
	asffText    = 1024
	asffAction  = 512
	asffField   = 2048
	asffRelated = 32
	asffMaxTags = 50
)

type (
	asffFinding struct {
		SchemaVersion string            `json:"SchemaVersion"`
		ID            string            `json:"Id"`
		ProductArn    string            `json:"ProductArn"`
		ProductName   string            `json:"ProductName"`
		CompanyName   string            `json:"CompanyName"`
		Region        string            `json:"Region"`
		GeneratorID   string            `json:"GeneratorId"`
		AwsAccountID  string            `json:"AwsAccountId"`
		Types         []string          `json:"Types"`
		CreatedAt     string            `json:"CreatedAt"`
		UpdatedAt     string            `json:"UpdatedAt"`
		Severity      asffSeverity      `json:"Severity"`
		Title         string            `json:"Title"`
		Description   string            `json:"Description"`
		Remediation   asffRemediation   `json:"Remediation,omitzero"`
		ProductFields map[string]string `json:"ProductFields"`
		Resources     []asffResource    `json:"Resources"`
		Compliance    asffCompliance    `json:"Compliance"`
		Workflow      asffWorkflow      `json:"Workflow"`
		RecordState   string            `json:"RecordState"`
	}
	asffSeverity struct {
		Label    string `json:"Label"`
		Original string `json:"Original"`
	}
	asffRemediation struct {
		Recommendation asffRecommendation `json:"Recommendation"`
	}
	asffRecommendation struct {
		Text string `json:"Text,omitempty"`
		URL  string `json:"Url,omitempty"`
	}
	asffResource struct {
		Type      string            `json:"Type"`
		ID        string            `json:"Id"`
		Partition string            `json:"Partition"`
		Region    string            `json:"Region"`
		Tags      map[string]string `json:"Tags,omitempty"`
	}
	asffCompliance struct {
		Status       string   `json:"Status"`
		Requirements []string `json:"RelatedRequirements,omitempty"`
	}
	asffWorkflow struct {
		Status string `json:"Status"`
	}
)

// asff writes an array of AWS Security Hub findings for BatchImportFindings, which
// takes a hundred at a time. It omits findings of other clouds, which the format cannot
// represent.
type asff struct {
	array
	report Report
}

func newASFF(w io.Writer, r Report) Writer { return &asff{array{w: w}, r} }

func (a *asff) Put(f posture.Finding) error {
	if f.Provider != posture.AWS {
		return nil
	}
	return a.put(asffOf(f, a.report))
}
func (a *asff) Flush() error { return nil }
func (a *asff) Close() error { return a.close() }

// SecurityHub returns a finding for a call of BatchImportFindings in an account and region.
// AwsAccountId and Region are those of the call; the account of the resource is in
// ProductFields. It returns false for findings of other clouds, which the
// format cannot represent.
func SecurityHub(f posture.Finding, r Report, account, region string) (json.RawMessage, bool) {
	if f.Provider != posture.AWS {
		return nil, false
	}
	out := asffOf(f, r)
	out.AwsAccountID, out.Region = account, region
	out.ProductArn = "arn:" + out.Resources[0].Partition + ":securityhub:" + region + ":" + account + ":product/" + account + "/default"
	out.ProductFields["vigil/cloudAccountId"] = string(f.Account)
	text, err := json.Marshal(out)
	return text, err == nil
}

// SecurityHubTest returns an archived finding that tests whether an account accepts
// findings.
func SecurityHubTest(r Report, id, account, region string) json.RawMessage {
	f := posture.Finding{
		ID: posture.FindingID("test/" + id), Rule: "vigil-test", Account: posture.AccountID(account), Provider: posture.AWS, Region: region, Level: posture.LevelLow,
		Status: posture.FindingResolved, Created: r.At, Updated: r.At, XID: "arn:aws:iam::" + account + ":root", Object: "vigil-test",
	}
	r.Rules = map[posture.RuleID]posture.Rule{f.Rule: {ID: f.Rule, Name: "Vigil: test of this channel", Description: "Vigil can import findings.", SuggestedAction: "Nothing to do."}}
	text, _ := SecurityHub(f, r, account, region)
	return text
}

// asffOf returns a finding in the format. Blank texts are omitted, because Security Hub
// rejects findings that have one.
func asffOf(f posture.Finding, r Report) asffFinding {
	rule := r.rule(f.Rule)
	region, partition := f.Region, "aws"
	if region == posture.Global || region == "" {
		region = "us-east-1" // the region where Security Hub shows global resources
	}
	if name, err := arn.Parse(f.XID); err == nil {
		partition = name.Partition
	}
	_, controls := r.controls(rule)
	out := asffFinding{
		SchemaVersion: "2018-10-08", ID: "vigil/" + string(f.ID),
		ProductArn:  "arn:" + partition + ":securityhub:" + region + ":" + string(f.Account) + ":product/" + string(f.Account) + "/default",
		ProductName: "Vigil", CompanyName: "Vigil", Region: region, GeneratorID: string(f.Rule), AwsAccountID: string(f.Account),
		Types:     []string{"Software and Configuration Checks/Industry and Regulatory Standards"},
		CreatedAt: asffTime(f.Created), UpdatedAt: asffTime(f.Updated), Severity: asffSeverity{strings.ToUpper(string(f.Level)), string(f.Level)},
		Title: clip(strings.TrimSpace(rule.Name), asffTitle), Description: clip(cmp.Or(strings.TrimSpace(rule.Description), rule.Name), asffText),
		Remediation:   asffRemediation{asffRecommendation{clip(strings.TrimSpace(rule.SuggestedAction), asffAction), rule.DocumentationLink}},
		ProductFields: map[string]string{"vigil/entityId": clip(string(f.Object), asffField), "vigil/version": r.Version},
		Resources:     []asffResource{{asffType(f.ObjectType()), resourceID(f), partition, region, firstTags(f.Tags)}},
		Compliance:    asffCompliance{"FAILED", controls[:min(len(controls), asffRelated)]}, Workflow: asffWorkflow{"NEW"}, RecordState: "ACTIVE",
	}
	switch {
	case f.Status == posture.FindingResolved:
		out.Compliance.Status, out.Workflow.Status, out.RecordState = "PASSED", "RESOLVED", "ARCHIVED"
	case f.Suppressed(r.At):
		out.Workflow.Status = "SUPPRESSED"
	}
	return out
}

func asffTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// asffTypes maps entity types to resource types of Security Hub. Other types become
// "Other".
var asffTypes = map[posture.EntityType]string{
	"AWS.S3.Bucket": "AwsS3Bucket", "AWS.EC2.Instance": "AwsEc2Instance", "AWS.EC2.SecurityGroup": "AwsEc2SecurityGroup", "AWS.EC2.Volume": "AwsEc2Volume",
	"AWS.EC2.VPC": "AwsEc2Vpc", "AWS.EC2.Subnet": "AwsEc2Subnet", "AWS.EC2.NetworkAcl": "AwsEc2NetworkAcl", "AWS.IAM.User": "AwsIamUser", "AWS.IAM.Role": "AwsIamRole",
	"AWS.IAM.Policy": "AwsIamPolicy", "AWS.IAM.Group": "AwsIamGroup", "AWS.KMS.Key": "AwsKmsKey", "AWS.RDS.DBInstance": "AwsRdsDbInstance",
	"AWS.RDS.DBCluster": "AwsRdsDbCluster", "AWS.Lambda.Function": "AwsLambdaFunction", "AWS.CloudTrail.Trail": "AwsCloudTrailTrail",
	"AWS.CloudFront.Distribution": "AwsCloudFrontDistribution", "AWS.DynamoDB.Table": "AwsDynamoDbTable", "AWS.SNS.Topic": "AwsSnsTopic", "AWS.SQS.Queue": "AwsSqsQueue",
	"AWS.EKS.Cluster": "AwsEksCluster", "AWS.Redshift.Cluster": "AwsRedshiftCluster", "AWS.SecretsManager.Secret": "AwsSecretsManagerSecret",
}

func asffType(t posture.EntityType) string {
	if name, ok := asffTypes[t]; ok {
		return name
	}
	return "Other"
}

// firstTags returns at most as many tags as Security Hub allows. It omits blank values,
// which AWS permits for tags, but Security Hub does not.
func firstTags(tags map[string]string) map[string]string {
	first := make(map[string]string, min(len(tags), asffMaxTags))
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if len(first) == asffMaxTags {
			break
		}
		if value := tags[name]; strings.TrimSpace(name) != "" && strings.TrimSpace(value) != "" {
			first[name] = value
		}
	}
	return first
}
