package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	dnstypes "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"vigil/internal/posture/collect"
)

var distributions = listed(declaration{
	Type: distributionType, Scope: collect.PerAccount, Service: "cloudfront", Doc: "A web site that is answered from near its visitors.",
	Permissions: []string{"cloudfront:ListDistributions"},
	Properties: properties{
		text("domainName", "The name it was given."),
		texts("aliases", "The names of its own."),
		flag("enabled", "It answers."),
		text("status", "Deployed when its last change is everywhere."),
		texts("viewerProtocolPolicy", "How visitors may ask: allow-all, https-only or redirect-to-https, for each kind of path."),
		text("minimumProtocolVersion", "The oldest version of TLS it speaks."),
		text("webACLId", "The firewall in front of it; absent when there is none."),
		texts("origins", "Where it gets what it answers with."),
	},
	Edges: edges{
		edge("ORIGIN", "The buckets it gets what it answers with from.", bucketType),
		edge("PROTECTED_BY", "The firewall in front of it.", webACLType),
		edge("HAS_CERTIFICATE", "The certificate it shows.", certificateType),
	},
	Events: events{on("cloudfront", "CreateDistribution*", "UpdateDistribution*", "DeleteDistribution*")},
}, func(ctx context.Context, s *scope, _ []string, page func([]cftypes.DistributionSummary) error) error {
	in := &cloudfront.ListDistributionsInput{MaxItems: aws.Int32(100)}
	return each(ctx, cloudfront.NewListDistributionsPaginator(cloudfront.NewFromConfig(s.config), in), func(out *cloudfront.ListDistributionsOutput) error {
		if out.DistributionList == nil {
			return nil
		}
		return page(out.DistributionList.Items)
	})
}, func(s *scope, v *cftypes.DistributionSummary) *resource {
	r := s.resource(distributionType, aws.ToString(v.Id))
	r.Name, r.XID = aws.ToString(v.DomainName), aws.ToString(v.ARN)
	r.Text("domainName", r.Name).Flag("enabled", aws.ToBool(v.Enabled)).Text("status", aws.ToString(v.Status)).Text("webACLId", aws.ToString(v.WebACLId))
	var ways []string
	if v.DefaultCacheBehavior != nil {
		ways = append(ways, string(v.DefaultCacheBehavior.ViewerProtocolPolicy))
	}
	if v.CacheBehaviors != nil {
		for _, b := range v.CacheBehaviors.Items {
			ways = append(ways, string(b.ViewerProtocolPolicy))
		}
	}
	set(r, "viewerProtocolPolicy", ways)
	if v.Aliases != nil {
		set(r, "aliases", v.Aliases.Items)
	}
	if c := v.ViewerCertificate; c != nil {
		r.Text("minimumProtocolVersion", string(c.MinimumProtocolVersion)).Edge("HAS_CERTIFICATE", s.refs(c.ACMCertificateArn))
	}
	if v.Origins != nil {
		for _, o := range v.Origins.Items {
			host := aws.ToString(o.DomainName)
			r.Text("origins", host)
			if bucket, rest, ok := strings.Cut(host, ".s3."); ok && strings.Contains(rest, "amazonaws.com") {
				r.Edge("ORIGIN", s.global(bucketType, bucket))
			}
		}
	}
	return r.Edge("PROTECTED_BY", s.refs(v.WebACLId))
})

var zones = listed(declaration{
	Type: zoneType, Scope: collect.PerAccount, Service: "route53", Doc: "The names of a domain.",
	Permissions: []string{"route53:ListHostedZones"},
	Properties: properties{
		text("name", "The domain."),
		flag("privateZone", "Only VPCs can ask for its names."),
		long("recordCount", "How many records it has."),
	},
	Events: events{on("route53", "CreateHostedZone", "DeleteHostedZone", "ChangeResourceRecordSets", "UpdateHostedZoneComment")},
}, func(ctx context.Context, s *scope, _ []string, page func([]dnstypes.HostedZone) error) error {
	in := &route53.ListHostedZonesInput{MaxItems: aws.Int32(100)}
	return each(ctx, route53.NewListHostedZonesPaginator(route53.NewFromConfig(s.config), in), func(out *route53.ListHostedZonesOutput) error { return page(out.HostedZones) })
}, func(s *scope, v *dnstypes.HostedZone) *resource {
	id := strings.TrimPrefix(aws.ToString(v.Id), "/hostedzone/")
	r := s.resource(zoneType, id)
	r.Name, r.XID = strings.TrimSuffix(aws.ToString(v.Name), "."), "arn:"+s.partition.name+":route53:::hostedzone/"+id
	number(r, "recordCount", v.ResourceRecordSetCount)
	return r.Text("name", r.Name).Flag("privateZone", v.Config != nil && v.Config.PrivateZone)
})

var certificates = listed(declaration{
	Type: certificateType, Scope: collect.PerRegion, Service: "acm", Doc: "A certificate that AWS keeps.",
	Permissions: []string{"acm:ListCertificates"},
	Properties: properties{
		text("domainName", "The first name it is for."),
		texts("subjectAlternativeNames", "The names it is for."),
		text("status", "ISSUED, EXPIRED, PENDING_VALIDATION and others."),
		text("type", "AMAZON_ISSUED, IMPORTED or PRIVATE."),
		text("keyAlgorithm", "Of its key."),
		flag("inUse", "Something shows it."),
		text("notAfter", "When it ends."),
		text("renewalEligibility", "ELIGIBLE when it is renewed by itself."),
	},
	Events: events{on("acm", "RequestCertificate", "ImportCertificate", "DeleteCertificate", "RenewCertificate", "UpdateCertificateOptions")},
}, func(ctx context.Context, s *scope, _ []string, page func([]acmtypes.CertificateSummary) error) error {
	// Without naming them, certificates of the newer algorithms are left out.
	in := &acm.ListCertificatesInput{MaxItems: aws.Int32(1000), Includes: &acmtypes.Filters{KeyTypes: acmtypes.KeyAlgorithm("").Values()}}
	return each(ctx, acm.NewListCertificatesPaginator(acm.NewFromConfig(s.config), in), func(out *acm.ListCertificatesOutput) error {
		return page(out.CertificateSummaryList)
	})
}, func(s *scope, v *acmtypes.CertificateSummary) *resource {
	arn := aws.ToString(v.CertificateArn)
	r := s.resource(certificateType, lastPart(arn))
	r.Name, r.XID = aws.ToString(v.DomainName), arn
	r.Text("domainName", r.Name).Text("status", string(v.Status)).Text("type", string(v.Type)).Text("keyAlgorithm", string(v.KeyAlgorithm)).
		Flag("inUse", aws.ToBool(v.InUse)).Text("renewalEligibility", string(v.RenewalEligibility))
	set(r, "subjectAlternativeNames", v.SubjectAlternativeNameSummaries)
	return when(r, "notAfter", v.NotAfter)
})
