package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/accessanalyzer"
	analyzertypes "github.com/aws/aws-sdk-go-v2/service/accessanalyzer/types"
	"github.com/aws/aws-sdk-go-v2/service/configservice"
	configtypes "github.com/aws/aws-sdk-go-v2/service/configservice/types"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/securityhub"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var analyzers = listed(declaration{
	Type: analyzerType, Scope: collect.PerRegion, Service: "access-analyzer", Doc: "What looks for access from outside.",
	Permissions: []string{"access-analyzer:ListAnalyzers"},
	Properties: properties{
		text("status", "ACTIVE when it works."),
		text("type", "ACCOUNT, ORGANIZATION, or another for access that is not used."),
		text("createdAt", "When it was made."),
	},
	Events: events{on("access-analyzer", "CreateAnalyzer", "DeleteAnalyzer", "UpdateAnalyzer")},
}, listAnalyzers, func(s *scope, v *analyzertypes.AnalyzerSummary) *resource {
	r := s.resource(analyzerType, aws.ToString(v.Name))
	r.XID = aws.ToString(v.Arn)
	for name, value := range v.Tags {
		r.Tag(name, value)
	}
	r.Text("status", string(v.Status)).Text("type", string(v.Type))
	return when(r, "createdAt", v.CreatedAt)
})

func listAnalyzers(ctx context.Context, s *scope, _ []string, page func([]analyzertypes.AnalyzerSummary) error) error {
	in := &accessanalyzer.ListAnalyzersInput{MaxResults: aws.Int32(100)}
	return each(ctx, accessanalyzer.NewListAnalyzersPaginator(accessanalyzer.NewFromConfig(s.config), in), func(out *accessanalyzer.ListAnalyzersOutput) error {
		return page(out.Analyzers)
	})
}

// A runningRecorder is a recorder and whether it records; nil when that could
// not be read.
type runningRecorder struct {
	configtypes.ConfigurationRecorder
	status *configtypes.ConfigurationRecorderStatus
	err    error
}

var recorders = listed(declaration{
	Type: recorderType, Scope: collect.PerRegion, Service: "config", Doc: "What records the configuration of resources.",
	Permissions: []string{"config:DescribeConfigurationRecorders", "config:DescribeConfigurationRecorderStatus"},
	Properties: properties{
		flag("recording", "It records now."),
		flag("allSupported", "It records every type that it can."),
		flag("includeGlobalResourceTypes", "It records what belongs to no region."),
		text("lastStatus", "How its last delivery ended: Success, Pending or Failure."),
	},
	Edges:  edges{edge("HAS_ROLE", "The role it reads with.", roleType)},
	Events: events{on("config", "PutConfigurationRecorder", "StartConfigurationRecorder", "StopConfigurationRecorder", "DeleteConfigurationRecorder")},
}, listRecorders, func(s *scope, v *runningRecorder) *resource {
	r := s.resource(recorderType, aws.ToString(v.Name))
	r.XID = aws.ToString(first(v.Arn, aws.String(s.arn("config", "configuration-recorder/"+aws.ToString(v.Name)))))
	if g := v.RecordingGroup; g != nil {
		r.Flag("allSupported", g.AllSupported).Flag("includeGlobalResourceTypes", g.IncludeGlobalResourceTypes)
	}
	r.Edge("HAS_ROLE", s.refs(v.RoleARN))
	if v.err != nil {
		return r.Unread(v.err, "recording", "lastStatus")
	}
	if v.status != nil {
		r.Text("lastStatus", string(v.status.LastStatus))
	}
	return r.Flag("recording", v.status != nil && v.status.Recording)
})

func listRecorders(ctx context.Context, s *scope, _ []string, page func([]runningRecorder) error) error {
	client := configservice.NewFromConfig(s.config)
	out, err := client.DescribeConfigurationRecorders(ctx, &configservice.DescribeConfigurationRecordersInput{})
	if err != nil || len(out.ConfigurationRecorders) == 0 {
		return err
	}
	all := make([]runningRecorder, len(out.ConfigurationRecorders))
	status, err := client.DescribeConfigurationRecorderStatus(ctx, &configservice.DescribeConfigurationRecorderStatusInput{})
	if err = plain(err); collect.Over(err) {
		return err
	}
	for i, rec := range out.ConfigurationRecorders {
		all[i] = runningRecorder{ConfigurationRecorder: rec, err: err}
		if err != nil {
			continue
		}
		at := slices.IndexFunc(status.ConfigurationRecordersStatus, func(st configtypes.ConfigurationRecorderStatus) bool {
			return aws.ToString(st.Name) == aws.ToString(rec.Name)
		})
		if at >= 0 {
			all[i].status = &status.ConfigurationRecordersStatus[at]
		}
	}
	return page(all)
}

var detectors = detailed(declaration{
	Type: detectorType, Scope: collect.PerRegion, Service: "guardduty", Doc: "What looks for attacks in the region.",
	Permissions: []string{"guardduty:ListDetectors", "guardduty:GetDetector"},
	Properties: properties{
		text("status", "ENABLED when it looks."),
		text("findingPublishingFrequency", "How often what it finds is told."),
		texts("features", "What it looks at: the features that are on."),
	},
	Edges:  edges{edge("HAS_ROLE", "The role it reads with.", roleType)},
	Events: events{on("guardduty", "CreateDetector", "UpdateDetector", "DeleteDetector")},
}, listDetectors, func(ctx context.Context, s *scope, id *string) (*resource, error) {
	r := s.resource(detectorType, *id)
	r.XID = s.arn("guardduty", "detector/"+*id)
	return r, detail(r, []string{"status", "findingPublishingFrequency", "features", "HAS_ROLE", posture.TagsUnread}, func() error {
		out, err := guardduty.NewFromConfig(s.config).GetDetector(ctx, &guardduty.GetDetectorInput{DetectorId: id})
		if err != nil {
			return err
		}
		var on []string
		for _, f := range out.Features {
			if f.Status == "ENABLED" {
				on = append(on, string(f.Name))
			}
		}
		for name, value := range out.Tags {
			r.Tag(name, value)
		}
		set(r, "features", on).Text("status", string(out.Status)).Text("findingPublishingFrequency", string(out.FindingPublishingFrequency))
		r.Edge("HAS_ROLE", s.refs(out.ServiceRole))
		return nil
	})
})

func listDetectors(ctx context.Context, s *scope, names []string, page func([]string) error) error {
	if len(names) > 0 {
		return page(names)
	}
	return each(ctx, guardduty.NewListDetectorsPaginator(guardduty.NewFromConfig(s.config), &guardduty.ListDetectorsInput{}), func(out *guardduty.ListDetectorsOutput) error {
		return page(out.DetectorIds)
	})
}

var hubs = listed(declaration{
	Type: hubType, Scope: collect.PerRegion, Service: "securityhub", Doc: "What gathers findings of the region.",
	Permissions: []string{"securityhub:DescribeHub"},
	Properties: properties{
		text("hubArn", "Its resource name."),
		text("subscribedAt", "Since when it is on."),
		flag("autoEnableControls", "New controls are on by themselves."),
	},
	Events: events{on("securityhub", "EnableSecurityHub", "DisableSecurityHub", "UpdateSecurityHubConfiguration")},
}, func(ctx context.Context, s *scope, _ []string, page func([]securityhub.DescribeHubOutput) error) error {
	out, err := securityhub.NewFromConfig(s.config).DescribeHub(ctx, &securityhub.DescribeHubInput{})
	if err != nil {
		return err
	}
	return page([]securityhub.DescribeHubOutput{*out})
}, func(s *scope, v *securityhub.DescribeHubOutput) *resource {
	r := s.resource(hubType, "default")
	r.XID = aws.ToString(v.HubArn)
	return r.Text("hubArn", r.XID).Text("subscribedAt", aws.ToString(v.SubscribedAt)).Flag("autoEnableControls", aws.ToBool(v.AutoEnableControls))
})
