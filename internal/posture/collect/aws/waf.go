package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/wafv2"
	"github.com/aws/aws-sdk-go-v2/service/wafv2/types"

	"vigil/internal/posture/collect"
)

// A scopedACL is a firewall of a region, or of CloudFront.
type scopedACL struct {
	types.WebACLSummary
	scope types.Scope
}

// The firewalls of CloudFront are kept in the partition's home region.
var webACLs = detailed(declaration{
	Type: webACLType, Scope: collect.PerRegion, Service: "wafv2", Doc: "A firewall for web calls.",
	Permissions: []string{"wafv2:ListWebACLs", "wafv2:GetWebACL", "wafv2:ListResourcesForWebACL"},
	Properties: properties{
		text("webAclId", "Its id."),
		text("scope", "REGIONAL or CLOUDFRONT."),
		text("defaultAction", "What happens to calls that no rule is about: allow or block."),
		texts("rules", "Its rules."),
		long("capacity", "How much work its rules are."),
	},
	Edges:  edges{edge("PROTECTS", "The load balancers behind it.", loadBalancerType)},
	Events: events{on("wafv2", "CreateWebACL", "UpdateWebACL", "DeleteWebACL", "AssociateWebACL", "DisassociateWebACL")},
}, func(ctx context.Context, s *scope, _ []string, page func([]scopedACL) error) error {
	scopes := []types.Scope{types.ScopeRegional}
	if s.region == s.partition.home {
		scopes = append(scopes, types.ScopeCloudfront)
	}
	for _, scope := range scopes {
		in := &wafv2.ListWebACLsInput{Scope: scope, Limit: aws.Int32(100)}
		for more := true; more; more = aws.ToString(in.NextMarker) != "" {
			out, err := wafv2.NewFromConfig(s.config).ListWebACLs(ctx, in)
			if err != nil {
				return err
			}
			all := make([]scopedACL, len(out.WebACLs))
			for i, acl := range out.WebACLs {
				all[i] = scopedACL{acl, scope}
			}
			if err := page(all); err != nil {
				return err
			}
			in.NextMarker = out.NextMarker
		}
	}
	return nil
}, func(ctx context.Context, s *scope, v *scopedACL) (*resource, error) {
	arn := aws.ToString(v.ARN)
	r := s.resource(webACLType, strings.Replace(arn[lastColon(arn)+1:], "/webacl/", "/", 1))
	r.Name, r.XID = aws.ToString(v.Name), arn
	r.Text("webAclId", aws.ToString(v.Id)).Text("scope", string(v.scope))
	client := wafv2.NewFromConfig(s.config)
	err := detail(r, []string{"defaultAction", "rules", "capacity"}, func() error {
		out, err := client.GetWebACL(ctx, &wafv2.GetWebACLInput{Id: v.Id, Name: v.Name, Scope: v.scope})
		if err != nil {
			return err
		}
		action := "allow"
		if out.WebACL.DefaultAction != nil && out.WebACL.DefaultAction.Block != nil {
			action = "block"
		}
		r.Text("defaultAction", action).Number("capacity", out.WebACL.Capacity)
		for _, rule := range out.WebACL.Rules {
			r.Text("rules", aws.ToString(rule.Name))
		}
		return nil
	})
	if err != nil || v.scope == types.ScopeCloudfront {
		return r, err
	}
	return r, detail(r, []string{"PROTECTS"}, func() error {
		in := &wafv2.ListResourcesForWebACLInput{WebACLArn: v.ARN, ResourceType: types.ResourceTypeApplicationLoadBalancer}
		out, err := client.ListResourcesForWebACL(ctx, in)
		if err == nil {
			for _, arn := range out.ResourceArns {
				r.Edge("PROTECTS", s.ref(arn))
			}
		}
		return err
	})
})
