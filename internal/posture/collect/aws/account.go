package aws

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	analyzertypes "github.com/aws/aws-sdk-go-v2/service/accessanalyzer/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/securityhub"

	"vigil/internal/posture/collect"
)

var account = single(declaration{
	Type: accountType, Scope: collect.PerAccount, Service: "ec2", Doc: "The account as a whole.",
	Permissions: []string{
		"ec2:DescribeRegions", "iam:ListAccountAliases", "organizations:DescribeOrganization",
		"cloudtrail:DescribeTrails", "cloudtrail:GetTrailStatus", "cloudtrail:GetEventSelectors",
	},
	Properties: properties{
		text("accountId", "Its number."),
		text("alias", "Its name; absent when it has none."),
		text("organizationId", "The organisation it is in; absent when it is in none."),
		text("managementAccountId", "The account that manages the organisation."),
		texts("regions", "The regions that are enabled."),
		flag("multiRegionTrailLogs", "A trail records every management event in all regions now."),
	},
	Edges: edges{
		edge("HAS_REGION", "The regions that are enabled.", regionType),
		edge("HAS", "The trails that record all regions.", trailType),
	},
	Events: events{
		on("cloudtrail", "CreateTrail", "UpdateTrail", "DeleteTrail", "StartLogging", "StopLogging", "PutEventSelectors"),
		on("iam", "CreateAccountAlias", "DeleteAccountAlias"),
	},
}, func(ctx context.Context, s *scope) (*resource, error) {
	r := s.resource(accountType, string(s.account))
	r.XID = s.arn("iam", "root")
	r.Text("accountId", string(s.account))
	regions, _, err := s.regions(ctx)
	switch {
	case collect.Over(err):
		return nil, err
	case err != nil:
		unknown(r, err, "regions")
	}
	set(r, "regions", regions)
	for _, name := range regions {
		r.Edge("HAS_REGION", s.at(regionType, name, name))
	}
	return r, errors.Join(err, s.accountName(ctx, r), s.organization(ctx, r), s.accountTrails(ctx, r))
})

func (s *scope) accountName(ctx context.Context, r *resource) error {
	return detail(r, []string{"alias"}, func() error {
		out, err := iam.NewFromConfig(s.config).ListAccountAliases(ctx, &iam.ListAccountAliasesInput{})
		if err == nil && len(out.AccountAliases) > 0 {
			r.Text("alias", out.AccountAliases[0])
			r.Name = out.AccountAliases[0]
		}
		return err
	})
}

func (s *scope) organization(ctx context.Context, r *resource) error {
	return detail(r, []string{"organizationId", "managementAccountId"}, func() error {
		out, err := organizations.NewFromConfig(s.config).DescribeOrganization(ctx, &organizations.DescribeOrganizationInput{})
		if err == nil && out.Organization != nil {
			r.Text("organizationId", aws.ToString(out.Organization.Id)).Text("managementAccountId", aws.ToString(out.Organization.MasterAccountId))
		}
		return err
	})
}

// accountTrails finds the trails that record all regions. They are listed in
// each, wherever they are at home.
func (s *scope) accountTrails(ctx context.Context, r *resource) error {
	return detail(r, []string{"multiRegionTrailLogs", "HAS"}, func() error {
		client := cloudtrail.NewFromConfig(s.config)
		out, err := client.DescribeTrails(ctx, &cloudtrail.DescribeTrailsInput{IncludeShadowTrails: aws.Bool(true)})
		if err != nil {
			return err
		}
		logs := false
		for _, t := range out.TrailList {
			if !aws.ToBool(t.IsMultiRegionTrail) {
				continue
			}
			r.Edge("HAS", s.at(trailType, aws.ToString(t.HomeRegion), aws.ToString(t.Name)))
			status, err := client.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: t.TrailARN})
			if err != nil {
				return err
			}
			events, err := client.GetEventSelectors(ctx, &cloudtrail.GetEventSelectorsInput{TrailName: t.TrailARN})
			if err != nil {
				return err
			}
			_, all := selected(events)
			logs = logs || all && aws.ToBool(status.IsLogging)
		}
		r.Flag("multiRegionTrailLogs", logs)
		return nil
	})
}

var region = single(declaration{
	Type: regionType, Scope: collect.PerRegion, Service: "ec2", Doc: "An enabled region, and what watches over it.",
	Permissions: []string{
		"ec2:GetEbsEncryptionByDefault", "access-analyzer:ListAnalyzers", "config:DescribeConfigurationRecorders",
		"config:DescribeConfigurationRecorderStatus", "guardduty:ListDetectors", "guardduty:GetDetector", "securityhub:DescribeHub",
	},
	Properties: properties{
		text("regionName", "Its name."),
		flag("ebsEncryptionByDefault", "New volumes are encrypted."),
		texts("analyzers", "The access analyzers that are active and look for access from outside."),
		flag("recording", "A configuration recorder records."),
		flag("allSupported", "A configuration recorder that records does so for every type."),
		text("detectorStatus", "ENABLED when GuardDuty looks; absent when it was never on."),
		text("hubArn", "Security Hub's resource name; absent when it is off."),
	},
	Edges: edges{edge("HAS", "What watches over it.", analyzerType, recorderType, detectorType, hubType)},
	Events: events{
		on("ec2", "EnableEbsEncryptionByDefault", "DisableEbsEncryptionByDefault"),
		on("access-analyzer", "CreateAnalyzer", "DeleteAnalyzer"),
		on("config", "PutConfigurationRecorder", "StartConfigurationRecorder", "StopConfigurationRecorder", "DeleteConfigurationRecorder"),
		on("guardduty", "CreateDetector", "UpdateDetector", "DeleteDetector"),
		on("securityhub", "EnableSecurityHub", "DisableSecurityHub"),
	},
}, func(ctx context.Context, s *scope) (*resource, error) {
	r := s.resource(regionType, s.region)
	r.XID = s.arn("ec2", "region/"+s.region)
	r.Text("regionName", s.region)
	out, err := ec2.NewFromConfig(s.config).GetEbsEncryptionByDefault(ctx, &ec2.GetEbsEncryptionByDefaultInput{})
	switch err = plain(err); {
	case collect.Over(err):
		return nil, err
	case err != nil:
		unknown(r, err, "ebsEncryptionByDefault")
	default:
		r.Flag("ebsEncryptionByDefault", aws.ToBool(out.EbsEncryptionByDefault))
	}
	return r, errors.Join(err, s.regionAnalyzers(ctx, r), s.regionRecorders(ctx, r), s.regionDetectors(ctx, r), s.regionHub(ctx, r))
})

func (s *scope) regionAnalyzers(ctx context.Context, r *resource) error {
	return detail(r, []string{"analyzers", "HAS"}, func() error {
		var active []string
		err := listAnalyzers(ctx, s, nil, func(page []analyzertypes.AnalyzerSummary) error {
			for _, a := range page {
				r.Edge("HAS", s.id(analyzerType, a.Name))
				external := a.Type == analyzertypes.TypeAccount || a.Type == analyzertypes.TypeOrganization
				if external && a.Status == analyzertypes.AnalyzerStatusActive {
					active = append(active, aws.ToString(a.Name))
				}
			}
			return nil
		})
		if err == nil {
			set(r, "analyzers", active)
		}
		return err
	})
}

func (s *scope) regionRecorders(ctx context.Context, r *resource) error {
	return detail(r, []string{"recording", "allSupported", "HAS"}, func() error {
		recording, all := false, false
		err := listRecorders(ctx, s, nil, func(page []runningRecorder) error {
			for _, rec := range page {
				if rec.err != nil {
					return rec.err
				}
				r.Edge("HAS", s.id(recorderType, rec.Name))
				if rec.status != nil && rec.status.Recording {
					recording = true
					all = all || rec.RecordingGroup != nil && rec.RecordingGroup.AllSupported
				}
			}
			return nil
		})
		if err == nil {
			r.Flag("recording", recording).Flag("allSupported", all)
		}
		return err
	})
}

func (s *scope) regionDetectors(ctx context.Context, r *resource) error {
	return detail(r, []string{"detectorStatus", "HAS"}, func() error {
		status := ""
		err := listDetectors(ctx, s, nil, func(ids []string) error {
			for _, id := range ids {
				r.Edge("HAS", s.id(detectorType, &id))
				out, err := guardduty.NewFromConfig(s.config).GetDetector(ctx, &guardduty.GetDetectorInput{DetectorId: &id})
				if err != nil {
					return err
				}
				status = max(status, string(out.Status)) // ENABLED is more than DISABLED
			}
			return nil
		})
		if err == nil {
			r.Text("detectorStatus", status)
		}
		return err
	})
}

func (s *scope) regionHub(ctx context.Context, r *resource) error {
	return detail(r, []string{"hubArn", "HAS"}, func() error {
		out, err := securityhub.NewFromConfig(s.config).DescribeHub(ctx, &securityhub.DescribeHubInput{})
		if err == nil {
			r.Text("hubArn", aws.ToString(out.HubArn))
			r.Edge("HAS", s.id(hubType, aws.String("default")))
		}
		return err
	})
}
