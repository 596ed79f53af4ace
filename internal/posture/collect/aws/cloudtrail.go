package aws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"

	"vigil/internal/posture/collect"
)

// A trail is listed in every region it covers; it is read in its home region
// alone.
var trails = detailed(declaration{
	Type: trailType, Scope: collect.PerRegion, Service: "cloudtrail", Doc: "A record of the calls made in the account.",
	Permissions: []string{"cloudtrail:DescribeTrails", "cloudtrail:GetTrailStatus", "cloudtrail:GetEventSelectors"},
	Properties: properties{
		flag("isMultiRegionTrail", "It records calls in all regions."),
		flag("isOrganizationTrail", "It records calls in all accounts of the organisation."),
		flag("includeGlobalServiceEvents", "It records calls to services of no region."),
		flag("logFileValidationEnabled", "Its files are signed, so that changes show."),
		text("kmsKeyId", "The key its files are encrypted with; absent when S3 does it alone."),
		text("s3BucketName", "The bucket it writes to."),
		text("cloudWatchLogsLogGroupArn", "The log group it writes to; absent when there is none."),
		flag("isLogging", "It records now."),
		text("latestDeliveryTime", "When it last wrote to the bucket."),
		text("latestCloudWatchLogsDeliveryTime", "When it last wrote to the log group."),
		texts("eventSelectors", "What it records: management events with All, ReadOnly or WriteOnly, and data events."),
		flag("logsAllManagementEvents", "It records every management event, reading and writing."),
	},
	Edges: edges{
		edge("ENCRYPTED_BY", "The key its files are encrypted with.", keyType),
		edge("WRITES_TO", "Where it writes.", bucketType, logGroupType),
		edge("NOTIFIES", "The topic that is told of new files.", topicType),
		edge("HAS_ROLE", "The role it writes to the log group with.", roleType),
	},
	Events: events{on("cloudtrail", "CreateTrail", "UpdateTrail", "DeleteTrail", "StartLogging", "StopLogging", "PutEventSelectors")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Trail) error) error {
	in := &cloudtrail.DescribeTrailsInput{TrailNameList: names, IncludeShadowTrails: aws.Bool(false)}
	out, err := cloudtrail.NewFromConfig(s.config).DescribeTrails(ctx, in)
	if err != nil {
		return err
	}
	return page(out.TrailList)
}, func(ctx context.Context, s *scope, v *types.Trail) (*resource, error) {
	client := cloudtrail.NewFromConfig(s.config)
	r := s.resource(trailType, aws.ToString(v.Name))
	r.XID = aws.ToString(v.TrailARN)
	r.Flag("isMultiRegionTrail", aws.ToBool(v.IsMultiRegionTrail)).Flag("isOrganizationTrail", aws.ToBool(v.IsOrganizationTrail)).
		Flag("includeGlobalServiceEvents", aws.ToBool(v.IncludeGlobalServiceEvents)).
		Flag("logFileValidationEnabled", aws.ToBool(v.LogFileValidationEnabled)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Text("s3BucketName", aws.ToString(v.S3BucketName)).Text("cloudWatchLogsLogGroupArn", aws.ToString(v.CloudWatchLogsLogGroupArn))
	r.Edge("ENCRYPTED_BY", s.key(v.KmsKeyId)).Edge("WRITES_TO", s.global(bucketType, aws.ToString(v.S3BucketName))).
		Edge("WRITES_TO", s.refs(v.CloudWatchLogsLogGroupArn)).Edge("NOTIFIES", s.refs(v.SnsTopicARN)).Edge("HAS_ROLE", s.refs(v.CloudWatchLogsRoleArn))
	err := detail(r, []string{"isLogging", "latestDeliveryTime", "latestCloudWatchLogsDeliveryTime"}, func() error {
		out, err := client.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: v.TrailARN})
		if err != nil {
			return err
		}
		r.Flag("isLogging", aws.ToBool(out.IsLogging))
		when(r, "latestDeliveryTime", out.LatestDeliveryTime)
		when(r, "latestCloudWatchLogsDeliveryTime", out.LatestCloudWatchLogsDeliveryTime)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, detail(r, []string{"eventSelectors", "logsAllManagementEvents"}, func() error {
		out, err := client.GetEventSelectors(ctx, &cloudtrail.GetEventSelectorsInput{TrailName: v.TrailARN})
		if err != nil {
			return err
		}
		texts, all := selected(out)
		set(r, "eventSelectors", texts).Flag("logsAllManagementEvents", all)
		return nil
	})
})

// selected says what a trail records, and whether that is every management
// event.
func selected(out *cloudtrail.GetEventSelectorsOutput) (texts []string, all bool) {
	for _, e := range out.EventSelectors {
		if aws.ToBool(e.IncludeManagementEvents) {
			texts = append(texts, "management "+string(e.ReadWriteType))
			all = all || e.ReadWriteType == types.ReadWriteTypeAll && len(e.ExcludeManagementEventSources) == 0
		}
		for _, d := range e.DataResources {
			texts = append(texts, "data "+aws.ToString(d.Type))
		}
	}
	for _, e := range out.AdvancedEventSelectors {
		category, narrowed := "", false
		for _, f := range e.FieldSelectors {
			if aws.ToString(f.Field) == "eventCategory" && len(f.Equals) > 0 {
				category = f.Equals[0]
			} else {
				narrowed = true
			}
		}
		texts = append(texts, fmt.Sprintf("advanced %s %s", category, map[bool]string{true: "narrowed", false: "All"}[narrowed]))
		all = all || category == "Management" && !narrowed
	}
	return texts, all
}
