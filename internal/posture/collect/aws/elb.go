package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// elbName returns the name of a load balancer, listener or target group: what
// follows its kind in its resource name.
func elbName(arn *string) string {
	_, rest, _ := strings.Cut(aws.ToString(arn), ":loadbalancer/")
	for _, kind := range []string{":listener/", ":targetgroup/"} {
		if _, after, ok := strings.Cut(aws.ToString(arn), kind); ok {
			rest = after
		}
	}
	return rest
}

func listLoadBalancers(ctx context.Context, s *scope, names []string, page func([]types.LoadBalancer) error) error {
	in := &elb.DescribeLoadBalancersInput{PageSize: limit(names, 400)}
	for _, name := range names {
		in.LoadBalancerArns = append(in.LoadBalancerArns, s.arn("elasticloadbalancing", "loadbalancer/"+name))
	}
	return each(ctx, elb.NewDescribeLoadBalancersPaginator(elb.NewFromConfig(s.config), in), func(out *elb.DescribeLoadBalancersOutput) error { return page(out.LoadBalancers) })
}

func listListeners(ctx context.Context, s *scope, balancer *string, page func([]types.Listener) error) error {
	in := &elb.DescribeListenersInput{LoadBalancerArn: balancer, PageSize: aws.Int32(400)}
	return each(ctx, elb.NewDescribeListenersPaginator(elb.NewFromConfig(s.config), in), func(out *elb.DescribeListenersOutput) error { return page(out.Listeners) })
}

var loadBalancers = detailed(declaration{
	Type: loadBalancerType, Scope: collect.PerRegion, Service: "elasticloadbalancing", Doc: "What spreads traffic over several targets.",
	Permissions: []string{"elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeListeners", "elasticloadbalancing:DescribeTags"},
	Properties: properties{
		text("type", "application, network or gateway."),
		text("scheme", "internet-facing or internal."),
		text("dnsName", "Where it answers."),
		text("state", "active when it works."),
		text("createdTime", "When it was made."),
		texts("listeners", "What it answers: protocol, port, and redirect where it only sends callers to HTTPS."),
		flag("httpWithoutRedirect", "It answers plain HTTP with more than a redirect to HTTPS."),
	},
	Edges: edges{
		edge("HAS", "What it answers.", listenerType),
		edge("IN_VPC", "Where it is.", vpcType),
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
	},
	Events: events{on("elasticloadbalancing", "CreateLoadBalancer", "DeleteLoadBalancer", "CreateListener", "ModifyListener", "DeleteListener",
		"SetSecurityGroups", "SetSubnets", "ModifyLoadBalancerAttributes", "AddTags", "RemoveTags")},
}, listLoadBalancers, func(ctx context.Context, s *scope, v *types.LoadBalancer) (*resource, error) {
	r := s.resource(loadBalancerType, elbName(v.LoadBalancerArn))
	r.Name, r.XID = aws.ToString(v.LoadBalancerName), aws.ToString(v.LoadBalancerArn)
	r.Text("type", string(v.Type)).Text("scheme", string(v.Scheme)).Text("dnsName", aws.ToString(v.DNSName)).Edge("IN_VPC", s.id(vpcType, v.VpcId))
	when(r, "createdTime", v.CreatedTime)
	if v.State != nil {
		r.Text("state", string(v.State.Code))
	}
	for _, id := range v.SecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, &id))
	}
	for _, z := range v.AvailabilityZones {
		r.Edge("IN_SUBNET", s.id(subnetType, z.SubnetId))
	}
	err := detail(r, []string{"listeners", "httpWithoutRedirect", "HAS"}, func() error {
		var all []string
		plainHTTP := false
		err := listListeners(ctx, s, v.LoadBalancerArn, func(page []types.Listener) error {
			for _, l := range page {
				text := fmt.Sprintf("%s %d", l.Protocol, aws.ToInt32(l.Port))
				if redirects(l) {
					text += " redirect"
				}
				all = append(all, text)
				plainHTTP = plainHTTP || l.Protocol == types.ProtocolEnumHttp && !redirects(l)
				r.Edge("HAS", s.refs(l.ListenerArn))
			}
			return nil
		})
		if err == nil {
			set(r, "listeners", all).Flag("httpWithoutRedirect", plainHTTP)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, detail(r, []string{posture.TagsUnread}, func() error {
		out, err := elb.NewFromConfig(s.config).DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: []string{r.XID}})
		if err == nil {
			for _, d := range out.TagDescriptions {
				for _, tag := range d.Tags {
					r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
				}
			}
		}
		return err
	})
})

// redirects reports whether a listener only sends callers to HTTPS.
func redirects(l types.Listener) bool {
	return slices.ContainsFunc(l.DefaultActions, func(a types.Action) bool {
		return a.Type == types.ActionTypeEnumRedirect && a.RedirectConfig != nil && aws.ToString(a.RedirectConfig.Protocol) == "HTTPS"
	})
}

var listeners = listed(declaration{
	Type: listenerType, Scope: collect.PerRegion, Service: "elasticloadbalancing", Doc: "What a load balancer answers on one port.",
	Permissions: []string{"elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeListeners"},
	Properties: properties{
		text("protocol", "HTTP, HTTPS, TCP, TLS, UDP, TCP_UDP or GENEVE."),
		long("port", "The port."),
		text("sslPolicy", "Which versions and ciphers of TLS it speaks."),
		flag("redirectsToHttps", "It only sends callers to HTTPS."),
	},
	Edges: edges{
		edge("LISTENS_FOR", "The load balancer it is of.", loadBalancerType),
		edge("FORWARDS_TO", "Where traffic goes.", targetGroupType),
		edge("HAS_CERTIFICATE", "The certificates it shows.", certificateType, serverCertificateType),
	},
	Events: events{on("elasticloadbalancing", "CreateListener", "ModifyListener", "DeleteListener", "AddListenerCertificates", "RemoveListenerCertificates")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Listener) error) error {
	if len(names) > 0 {
		in := &elb.DescribeListenersInput{ListenerArns: []string{s.arn("elasticloadbalancing", "listener/"+names[0])}}
		out, err := elb.NewFromConfig(s.config).DescribeListeners(ctx, in)
		if err != nil {
			return err
		}
		return page(out.Listeners)
	}
	return listLoadBalancers(ctx, s, nil, func(balancers []types.LoadBalancer) error {
		for _, b := range balancers {
			if err := listListeners(ctx, s, b.LoadBalancerArn, page); err != nil {
				return err
			}
		}
		return nil
	})
}, func(s *scope, v *types.Listener) *resource {
	r := s.resource(listenerType, elbName(v.ListenerArn))
	r.Name, r.XID = fmt.Sprintf("%s %d", v.Protocol, aws.ToInt32(v.Port)), aws.ToString(v.ListenerArn)
	r.Text("protocol", string(v.Protocol)).Text("sslPolicy", aws.ToString(v.SslPolicy)).Flag("redirectsToHttps", redirects(*v))
	number(r, "port", v.Port)
	for _, a := range v.DefaultActions {
		r.Edge("FORWARDS_TO", s.refs(a.TargetGroupArn))
	}
	for _, c := range v.Certificates {
		r.Edge("HAS_CERTIFICATE", s.refs(c.CertificateArn))
	}
	return r.Edge("LISTENS_FOR", s.refs(v.LoadBalancerArn))
})

var targetGroups = detailed(declaration{
	Type: targetGroupType, Scope: collect.PerRegion, Service: "elasticloadbalancing", Doc: "What a load balancer spreads traffic over.",
	Permissions: []string{"elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth"},
	Properties: properties{
		text("protocol", "HTTP, HTTPS, TCP, TLS, UDP, TCP_UDP or GENEVE."),
		long("port", "The port of the targets."),
		text("targetType", "instance, ip, lambda or alb."),
		text("healthCheckProtocol", "How targets are checked."),
		texts("targets", "The targets' ids or addresses."),
	},
	Edges: edges{
		edge("TARGETS", "The targets.", instanceType, functionType, loadBalancerType),
		edge("IN_VPC", "Where the targets are.", vpcType),
		edge("SERVES", "The load balancers that use it.", loadBalancerType),
	},
	Events: events{on("elasticloadbalancing", "CreateTargetGroup", "ModifyTargetGroup", "DeleteTargetGroup", "RegisterTargets", "DeregisterTargets")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.TargetGroup) error) error {
	in := &elb.DescribeTargetGroupsInput{PageSize: limit(names, 400)}
	for _, name := range names {
		in.TargetGroupArns = append(in.TargetGroupArns, s.arn("elasticloadbalancing", "targetgroup/"+name))
	}
	return each(ctx, elb.NewDescribeTargetGroupsPaginator(elb.NewFromConfig(s.config), in), func(out *elb.DescribeTargetGroupsOutput) error { return page(out.TargetGroups) })
}, func(ctx context.Context, s *scope, v *types.TargetGroup) (*resource, error) {
	r := s.resource(targetGroupType, elbName(v.TargetGroupArn))
	r.Name, r.XID = aws.ToString(v.TargetGroupName), aws.ToString(v.TargetGroupArn)
	r.Text("protocol", string(v.Protocol)).Text("targetType", string(v.TargetType)).Text("healthCheckProtocol", string(v.HealthCheckProtocol)).
		Edge("IN_VPC", s.id(vpcType, v.VpcId))
	number(r, "port", v.Port)
	for _, arn := range v.LoadBalancerArns {
		r.Edge("SERVES", s.ref(arn))
	}
	return r, detail(r, []string{"targets", "TARGETS"}, func() error {
		out, err := elb.NewFromConfig(s.config).DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: v.TargetGroupArn})
		if err != nil {
			return err
		}
		var targets []string
		for _, h := range out.TargetHealthDescriptions {
			if h.Target == nil {
				continue
			}
			id := aws.ToString(h.Target.Id)
			targets = append(targets, id)
			if v.TargetType == types.TargetTypeEnumInstance {
				r.Edge("TARGETS", s.id(instanceType, &id))
			} else {
				r.Edge("TARGETS", s.ref(id))
			}
		}
		set(r, "targets", targets)
		return nil
	})
})
