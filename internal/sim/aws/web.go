package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

// web contains the kinds of web services.
type web struct {
	loadBalancers, listeners, targetGroups, restAPIs, httpAPIs, webACLs, distributions, zones, webCertificates *world.Kind
}

func (e *inventory) makeWeb() {
	e.loadBalancers = e.numberNamed("AWS.ELB.LoadBalancer", func(p world.Place, i int) string {
		return fmt.Sprintf("app/front/%s%d", e.seed(p).With("elb").Hex(12), 1000+i)
	}, e.share(5, 4), e.loadBalancer)
	// The characters before the number can be digits too, so that only the last four are read.
	e.loadBalancers.Index = func(_ world.Place, name string) (i int, ok bool) {
		_, err := fmt.Sscanf(name[max(0, len(name)-4):], "%d", &i)
		return i - 1000, err == nil
	}
	e.listeners = e.numberNamed("AWS.ELB.Listener", func(p world.Place, i int) string {
		return fmt.Sprintf("%s/l-%d", e.loadBalancers.Name(p, i/2), i)
	}, func(p world.Place) int { return 2 * e.loadBalancers.Count(p) }, e.listener)
	e.targetGroups = e.numberNamed("AWS.ELB.TargetGroup", func(p world.Place, i int) string { return fmt.Sprintf("targets-%d/t-%d", i, i) }, e.share(5, 3), func(p world.Place, i int, name string) world.Object {
		return world.Obj("TargetGroupArn", arn("elasticloadbalancing", p, "targetgroup/"+name), "TargetGroupName", strings.Split(name, "/")[0], "Protocol", "HTTP", "Port", 8080,
			"VpcId", e.vpcs.Name(p, 0), "TargetType", "instance", "HealthCheckProtocol", "HTTP", "LoadBalancerArns", world.Items(e.balancerARN(p, i)),
			"_targets", world.Items(nth(e.instances, p, i)))
	})
	e.restAPIs = e.hexNamed("AWS.APIGateway.RestApi", "r", 9, constantCount(2), func(p world.Place, i int, id string) world.Object {
		o := world.Obj("id", id, "name", fmt.Sprintf("rest-%d", i), "createdDate", e.ago(140), "endpointConfiguration", world.Obj("types", world.Items("REGIONAL")),
			"disableExecuteApiEndpoint", i%2 == 0, "tags", world.Obj("Owner", "web"), "_stages", world.Items(e.stage(p, i, "prod", true), e.stage(p, i, "test", false)))
		if i == 0 { // API Gateway escapes the quotes in policies
			o = append(o, world.Obj("policy", strings.ReplaceAll(policy(withCondition(allow("*", "execute-api:Invoke", "*"), "StringEquals", "aws:SourceVpce", nth(e.endpoints, p, 0))), `"`, `\"`))...)
		}
		return o
	})
	e.httpAPIs = e.hexNamed("AWS.APIGateway.HttpApi", "h", 9, constantCount(2), func(p world.Place, i int, id string) world.Object {
		return world.Obj("apiId", id, "name", fmt.Sprintf("http-%d", i), "protocolType", "HTTP", "apiEndpoint", "https://"+id+".execute-api."+p.Region+".amazonaws.com",
			"createdDate", scalar(e.ago(130)), "disableExecuteApiEndpoint", false, "corsConfiguration", world.Obj("allowOrigins", world.Items("https://example.com")),
			"routeSelectionExpression", "$request.method", "tags", world.Obj("Owner", "web"), "_stages", world.Items(e.stage(p, i, "$default", i == 0)))
	})
	// The ACLs of CloudFront are those in the place without a region.
	e.webACLs = e.numberNamed("AWS.WAF.WebACL", func(p world.Place, i int) string { return fmt.Sprintf("acl-%d/id-%d", i, i) }, constantCount(1), e.webACL)
	e.distributions = e.hexNamed("AWS.CloudFront.Distribution", "E", 12, e.share(2, 3), e.distribution)
	e.zones = e.hexNamed("AWS.Route53.HostedZone", "Z", 16, e.share(2, 2), func(_ world.Place, i int, id string) world.Object {
		return world.Obj("Id", "/hostedzone/"+id, "Name", fmt.Sprintf("zone%d.example.com.", i), "CallerReference", id, "Config", world.Obj("PrivateZone", i%2 == 1),
			"ResourceRecordSetCount", 4+i)
	})
	e.webCertificates = e.uuidNamed("AWS.ACM.Certificate", e.share(3, 2), func(p world.Place, i int, id string) world.Object {
		name := fmt.Sprintf("site%d.example.com", i)
		return world.Obj("CertificateArn", arn("acm", p, "certificate/"+id), "DomainName", name, "SubjectAlternativeNameSummaries", world.Items(name, "www."+name),
			"Status", "ISSUED", "Type", "AMAZON_ISSUED", "KeyAlgorithm", "EC-prime256v1", "InUse", true, "NotAfter", e.ago(-200), "RenewalEligibility", "ELIGIBLE")
	})
}

func (e *inventory) balancerARN(p world.Place, i int) string {
	return arn("elasticloadbalancing", p, "loadbalancer/"+nth(e.loadBalancers, p, i))
}

func (e *inventory) targetGroupARN(p world.Place, i int) string {
	return arn("elasticloadbalancing", p, "targetgroup/"+nth(e.targetGroups, p, i))
}

func (e *inventory) loadBalancer(p world.Place, i int, name string) world.Object {
	scheme := world.PickOne(e.seed(p).With("scheme").Nth(i), "internet-facing", "internal")
	return world.Obj("LoadBalancerArn", e.balancerARN(p, i), "LoadBalancerName", "front", "DNSName", "front-"+afterSlash(name)+"."+p.Region+".elb.amazonaws.com",
		"Scheme", scheme, "Type", "application", "VpcId", e.vpcs.Name(p, 0), "CreatedTime", e.ago(110), "State", world.Obj("Code", "active"),
		"AvailabilityZones", world.Items(world.Obj("ZoneName", zone(p, 0), "SubnetId", e.subnets.Name(p, 0))),
		"SecurityGroups", world.Items(e.securityGroups.Name(p, e.ordinaryGroup(p, 0, i))), "_tags", e.tagList(p, "elb", i, "Key", "Value"))
}

// listener generates two listeners per load balancer: HTTP, which redirects
// unless it violates the rule, and HTTPS.
func (e *inventory) listener(p world.Place, i int, name string) world.Object {
	o := world.Obj("ListenerArn", arn("elasticloadbalancing", p, "listener/"+name), "LoadBalancerArn", e.balancerARN(p, i/2))
	forward := world.Obj("Type", "forward", "TargetGroupArn", e.targetGroupARN(p, i))
	if i%2 == 1 {
		return append(o, world.Obj("Protocol", "HTTPS", "Port", 443, "SslPolicy", "ELBSecurityPolicy-TLS13-1-2-2021-06", "DefaultActions", world.Items(forward),
			"Certificates", world.Items(world.Obj("CertificateArn", arn("acm", p, "certificate/"+nth(e.webCertificates, p, i)))))...)
	}
	action := world.Obj("Type", "redirect", "RedirectConfig", world.Obj("Protocol", "HTTPS", "Port", "443", "StatusCode", "HTTP_301"))
	if e.violates("aws-elb-https", p, i/2) {
		action = forward
	}
	return append(o, world.Obj("Protocol", "HTTP", "Port", 80, "DefaultActions", world.Items(action))...)
}

// stage generates a stage of an API. Only a protected one has access logs and a web ACL.
func (e *inventory) stage(p world.Place, i int, name string, protected bool) world.Object {
	o := world.Obj("stageName", name)
	if protected {
		o = append(o, world.Obj("accessLogSettings", world.Obj("destinationArn", arn("logs", p, "log-group:"+nth(e.logGroups, p, i)), "format", "$context.requestId"),
			"webAclArn", arn("wafv2", p, "regional/webacl/"+e.webACLs.Name(p, 0)))...)
	}
	return o
}

func (e *inventory) webACL(p world.Place, _ int, name string) world.Object {
	scope, place := "regional", p
	if p.Region == "" {
		scope, place.Region = "global", "us-east-1"
	}
	return world.Obj("Name", strings.Split(name, "/")[0], "Id", afterSlash(name), "ARN", arn("wafv2", place, scope+"/webacl/"+name), "Capacity", 50,
		"DefaultAction", world.Obj("Allow", world.Object{}), "VisibilityConfig", world.Obj("SampledRequestsEnabled", true, "CloudWatchMetricsEnabled", true, "MetricName", "acl"),
		"Rules", world.Items(world.Obj("Name", "managed-core", "Priority", 0, "Statement", world.Object{},
			"VisibilityConfig", world.Obj("SampledRequestsEnabled", true, "CloudWatchMetricsEnabled", true, "MetricName", "core"))))
}

func (e *inventory) distribution(p world.Place, i int, id string) world.Object {
	viewerPolicy := "redirect-to-https"
	if e.violates("aws-cloudfront-https", p, i) {
		viewerPolicy = "allow-all"
	}
	home := world.Place{Account: p.Account, Region: e.options.Regions[0]}
	alias := fmt.Sprintf("www%d.example.com", i)
	return world.Obj("Id", id, "ARN", "arn:aws:cloudfront::"+p.Account+":distribution/"+id, "Status", "Deployed", "LastModifiedTime", e.ago(33), "DomainName", strings.ToLower(id)+".cloudfront.net",
		"Aliases", world.Obj("Quantity", 1, "Items", listOf("CNAME", world.Items(alias))), "Enabled", true, "Staging", false, "HttpVersion", "http2", "IsIPV6Enabled", true, "PriceClass", "PriceClass_All", "Comment", "",
		"Origins", world.Obj("Quantity", 1, "Items", listOf("Origin", world.Items(world.Obj("Id", "s3", "DomainName", nth(e.buckets, home, i)+".s3."+home.Region+".amazonaws.com")))),
		"DefaultCacheBehavior", world.Obj("TargetOriginId", "s3", "ViewerProtocolPolicy", viewerPolicy),
		"CacheBehaviors", world.Obj("Quantity", 1, "Items", listOf("CacheBehavior", world.Items(world.Obj("PathPattern", "/api/*", "TargetOriginId", "s3", "ViewerProtocolPolicy", "https-only")))),
		"ViewerCertificate", world.Obj("ACMCertificateArn", arn("acm", home, "certificate/"+nth(e.webCertificates, home, i)), "MinimumProtocolVersion", "TLSv1.2_2021"),
		"WebACLId", "arn:aws:wafv2:us-east-1:"+p.Account+":global/webacl/"+e.webACLs.Name(p, 0))
}

func webService(c *Cloud) {
	balancerService(c)
	e := c.inventory
	c.register("cloudfront", "ListDistributions", func(x *call) (answer, error) {
		out, err := x.list(c, listing{kind: e.distributions, global: true, root: "DistributionList", field: "Items", item: "DistributionSummary", token: "Marker", next: "NextMarker",
			max: "MaxItems", truncated: "IsTruncated", page: 100})
		out.Object = append(world.Obj("Marker", x.text("Marker"), "MaxItems", 100, "Quantity", len(out.List("Items"))), out.Object...)
		return out, err
	})
	c.register("route53", "ListHostedZones", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.zones, global: true, root: "ListHostedZonesResponse", field: "HostedZones", item: "HostedZone", token: "marker", next: "NextMarker",
			max: "maxitems", truncated: "IsTruncated", page: 100})
	})
	c.register("acm", "ListCertificates", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.webCertificates, field: "CertificateSummaryList", token: "NextToken", next: "NextToken", max: "MaxItems", page: 1000})
	})
	api := func(list, get, stages, id, items, token string, kind *world.Kind) {
		c.register("apigateway", list, func(x *call) (answer, error) {
			return x.list(c, listing{kind: kind, field: items, token: token, next: token, page: 100})
		})
		getAPI := func(x *call) (world.Object, error) {
			o, ok := c.Get(kind, x.place(), x.text(id))
			if !ok {
				return nil, &failure{404, "NotFoundException", "Invalid API identifier specified"}
			}
			return o, nil
		}
		c.register("apigateway", get, func(x *call) (answer, error) {
			o, err := getAPI(x)
			return answer{Object: o.Visible()}, err
		})
		c.register("apigateway", stages, func(x *call) (answer, error) {
			o, err := getAPI(x)
			return answer{Object: world.Obj(items, o.List("_stages"))}, err
		})
	}
	api("GetRestApis", "GetRestApi", "GetStages", "restapi_id", "item", "position", e.restAPIs)
	api("GetApis", "GetApi", "GetV2Stages", "apiId", "items", "nextToken", e.httpAPIs)
	c.register("wafv2", "ListWebACLs", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.webACLs, global: x.text("Scope") == "CLOUDFRONT", field: "WebACLs", page: 100, shape: func(_ string, o world.Object) any {
			return world.Obj("Name", o.Get("Name"), "Id", o.Get("Id"), "ARN", o.Get("ARN"), "LockToken", lockToken(o))
		}})
	})
	c.register("wafv2", "GetWebACL", func(x *call) (answer, error) {
		p := x.place()
		if x.text("Scope") == "CLOUDFRONT" {
			p = x.global()
		}
		o, ok := c.Get(e.webACLs, p, x.text("Name")+"/"+x.text("Id"))
		if !ok {
			return answer{}, &failure{400, "WAFNonexistentItemException", "AWS WAF couldn't perform the operation because your resource doesn't exist."}
		}
		return answer{Object: world.Obj("WebACL", o.Visible(), "LockToken", lockToken(o))}, nil
	})
	c.register("wafv2", "ListResourcesForWebACL", func(x *call) (answer, error) {
		return answer{Object: world.Obj("ResourceArns", world.Items(e.balancerARN(x.place(), 0)))}, nil
	})
}

// lockToken returns a token that changes with the resource.
func lockToken(o world.Object) string {
	text, err := json.Marshal(o.Visible())
	if err != nil {
		panic(err) // an object of the simulator is always valid
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func balancerService(c *Cloud) {
	e := c.inventory
	// Resources are requested by ARN.
	for _, l := range []struct {
		action, field, arns, kindName, missing string
		kind                                   *world.Kind
	}{
		{"DescribeLoadBalancers", "LoadBalancers", "LoadBalancerArns", ":loadbalancer/", "LoadBalancerNotFound", e.loadBalancers},
		{"DescribeListeners", "Listeners", "ListenerArns", ":listener/", "ListenerNotFound", e.listeners},
		{"DescribeTargetGroups", "TargetGroups", "TargetGroupArns", ":targetgroup/", "TargetGroupNotFound", e.targetGroups},
	} {
		c.register("elasticloadbalancing", l.action, func(x *call) (answer, error) {
			if arns := x.texts(l.arns); len(arns) > 0 {
				var items []any
				for _, arn := range arns {
					_, name, _ := strings.Cut(arn, l.kindName)
					o, ok := c.Get(l.kind, x.place(), name)
					if !ok {
						return answer{}, &failure{400, l.missing, "One or more of these do not exist: " + arn}
					}
					items = append(items, o.Visible())
				}
				return answer{Object: world.Obj(l.field, items)}, nil
			}
			return x.list(c, listing{kind: l.kind, field: l.field, token: "Marker", next: "NextMarker", max: "PageSize", page: 400,
				only: func(_ string, o world.Object) bool {
					balancer := x.text("LoadBalancerArn")
					return balancer == "" || o.Text("LoadBalancerArn") == balancer
				}})
		})
	}
	c.register("elasticloadbalancing", "DescribeRules", func(x *call) (answer, error) {
		_, name, _ := strings.Cut(x.text("ListenerArn"), ":listener/")
		o, ok := c.Get(e.listeners, x.place(), name)
		if !ok {
			return answer{}, &failure{400, "ListenerNotFound", "There is no listener " + x.text("ListenerArn")}
		}
		rule := world.Obj("RuleArn", strings.Replace(x.text("ListenerArn"), ":listener/", ":listener-rule/", 1)+"/1", "Priority", "default", "IsDefault", true,
			"Conditions", []any{}, "Actions", o.List("DefaultActions"))
		return answer{Object: world.Obj("Rules", []any{rule})}, nil
	})
	c.register("elasticloadbalancing", "DescribeTags", func(x *call) (answer, error) {
		list := []any{}
		for _, arn := range x.texts("ResourceArns") {
			_, name, _ := strings.Cut(arn, ":loadbalancer/")
			if o, ok := c.Get(e.loadBalancers, x.place(), name); ok {
				list = append(list, world.Obj("ResourceArn", arn, "Tags", o.List("_tags")))
			}
		}
		return answer{Object: world.Obj("TagDescriptions", list)}, nil
	})
	c.register("elasticloadbalancing", "DescribeTargetHealth", func(x *call) (answer, error) {
		_, name, _ := strings.Cut(x.text("TargetGroupArn"), ":targetgroup/")
		o, ok := c.Get(e.targetGroups, x.place(), name)
		if !ok {
			return answer{}, &failure{400, "TargetGroupNotFound", "It does not exist"}
		}
		list := []any{}
		for _, id := range o.List("_targets") {
			list = append(list, world.Obj("Target", world.Obj("Id", id, "Port", 8080), "TargetHealth", world.Obj("State", "healthy")))
		}
		return answer{Object: world.Obj("TargetHealthDescriptions", list)}, nil
	})
}
