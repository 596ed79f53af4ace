package aws

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/sim/world"
)

// monitoring contains the kinds of resources of logging and monitoring services.
type monitoring struct {
	trails, logGroups, metricFilters, alarms, eventBuses, eventRules *world.Kind
	regions, analyzers, recorders, detectors, hubs                   *world.Kind
}

func (e *inventory) makeMonitoring() {
	inFirstRegion := func(n int) counter {
		return func(p world.Place) int {
			if p.Region != e.options.Regions[0] {
				return 0
			}
			return n
		}
	}
	e.trails = e.wordNamed("AWS.CloudTrail.Trail", "trail", inFirstRegion(2), e.trail)
	const filtered = 2 // the number of log groups that have a metric filter: the first ones
	e.logGroups = e.wordNamed("AWS.Logs.LogGroup", "/app/log", e.share(60, 4), func(p world.Place, i int, name string) world.Object {
		filters := 0
		if i < filtered {
			filters = 1
		}
		o := world.Obj("logGroupName", name, "arn", arn("logs", p, "log-group:"+name+":*"), "creationTime", e.ago(200).UnixMilli(), "metricFilterCount", filters,
			"storedBytes", 1024*i, "logGroupClass", "STANDARD")
		if i%2 == 0 {
			o = append(o, world.Obj("retentionInDays", 90, "kmsKeyId", e.keyARN(p, i))...)
		}
		return o
	})
	e.metricFilters = e.numberNamed("AWS.Logs.MetricFilter", func(p world.Place, i int) string {
		return fmt.Sprintf("%s/filter-%d", nth(e.logGroups, p, i), i)
	}, constantCount(filtered), func(p world.Place, i int, _ string) world.Object {
		return world.Obj("filterName", fmt.Sprintf("filter-%d", i), "filterPattern", "{ $.errorCode = \"AccessDenied\" }", "logGroupName", nth(e.logGroups, p, i),
			"creationTime", e.ago(100).UnixMilli(), "metricTransformations", world.Items(world.Obj("metricName", "Denied", "metricNamespace", "Security", "metricValue", "1")))
	})
	e.alarms = e.wordNamed("AWS.CloudWatch.Alarm", "alarm", e.share(30, 3), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("AlarmName", name, "AlarmArn", arn("cloudwatch", p, "alarm:"+name), "ActionsEnabled", i%4 != 0,
			"AlarmActions", world.Items(arn("sns", p, nth(e.topics, p, i))))
		if i == 2 {
			return append(o, world.Obj("AlarmRule", "ALARM(alarm-0000)", "_composite", true)...)
		}
		return append(o, world.Obj("Namespace", "AWS/EC2", "MetricName", "CPUUtilization", "ComparisonOperator", "GreaterThanThreshold", "Threshold", 80.5,
			"EvaluationPeriods", 3, "StateUpdatedTimestamp", e.ago(2))...)
	})
	e.eventBuses = e.namedFirst("AWS.Events.EventBus", []string{"default"}, "bus", constantCount(2), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("Name", name, "Arn", arn("events", p, "event-bus/"+name))
		if i > 0 {
			o = append(o, world.Obj("Policy", policy(allow("AWS:arn:aws:iam::123456789012:root", "events:PutEvents", arn("events", p, "event-bus/"+name))))...)
		}
		return o
	})
	e.eventRules = e.numberNamed("AWS.Events.Rule", func(p world.Place, i int) string { return fmt.Sprintf("%s/rule-%d", nth(e.eventBuses, p, i), i) }, e.share(5, 3), e.eventRule)
	e.makeDetection()
}

func (e *inventory) eventRule(p world.Place, i int, _ string) world.Object {
	name, bus := fmt.Sprintf("rule-%d", i), nth(e.eventBuses, p, i)
	inBus := "" // only the ARN of a rule on another bus than the default one has the name of the bus
	if bus != "default" {
		inBus = bus + "/"
	}
	o := world.Obj("Name", name, "EventBusName", bus, "Arn", arn("events", p, "rule/"+inBus+name), "State", "ENABLED",
		"RoleArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)),
		"_targets", world.Items(world.Obj("Id", "1", "Arn", arn("lambda", p, "function:"+nth(e.functions, p, i))), world.Obj("Id", "2", "Arn", arn("sqs", p, nth(e.queues, p, i)))))
	if i%2 == 0 {
		return append(o, world.Obj("EventPattern", `{"source":["aws.ec2"]}`)...)
	}
	return append(o, world.Obj("ScheduleExpression", "rate(1 hour)", "ManagedBy", "states.amazonaws.com")...)
}

// trail generates a trail: the first covers all regions, the others only their own.
func (e *inventory) trail(p world.Place, i int, name string) world.Object {
	// If the first does not log, no trail covers all regions.
	logging := i != 0 || !e.violates("aws-cloudtrail-multi-region", p, i)
	o := world.Obj("Name", name, "TrailARN", arn("cloudtrail", p, "trail/"+name), "HomeRegion", p.Region, "S3BucketName", nth(e.buckets, p, i),
		"IncludeGlobalServiceEvents", true, "IsMultiRegionTrail", i == 0, "IsOrganizationTrail", false,
		"LogFileValidationEnabled", !e.violates("aws-cloudtrail-log-validation", p, i), "SnsTopicARN", arn("sns", p, nth(e.topics, p, 0)), "HasCustomEventSelectors", true,
		"_logging", logging, "_delivered", e.ago(0))
	if !e.violates("aws-cloudtrail-kms", p, i) {
		o = append(o, world.Obj("KmsKeyId", e.keyARN(p, i))...)
	}
	if !e.violates("aws-cloudtrail-cloudwatch", p, i) {
		o = append(o, world.Obj("CloudWatchLogsLogGroupArn", arn("logs", p, "log-group:"+nth(e.logGroups, p, i)+":*"),
			"CloudWatchLogsRoleArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)))...)
	}
	return o
}

func (e *inventory) makeDetection() {
	unless := func(rule string) counter {
		return func(p world.Place) int {
			if e.violates(rule, p, 0) {
				return 0
			}
			return 1
		}
	}
	e.regions = e.single("AWS.Account.Region", func(p world.Place) world.Object {
		return world.Obj("ebsEncryptionByDefault", !e.violates("aws-ec2-ebs-default-encryption", p, 0))
	})
	e.analyzers = e.wordNamed("AWS.AccessAnalyzer.Analyzer", "analyzer", unless("aws-accessanalyzer-enabled"), func(p world.Place, _ int, name string) world.Object {
		return world.Obj("arn", arn("access-analyzer", p, "analyzer/"+name), "name", name, "type", "ACCOUNT", "createdAt", scalar(e.ago(300)), "status", "ACTIVE",
			"tags", world.Obj("Owner", "platform"))
	})
	e.recorders = e.namedFirst("AWS.Config.Recorder", []string{"default"}, "", constantCount(1), func(p world.Place, _ int, name string) world.Object {
		return world.Obj("name", name, "roleARN", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), 4)),
			"recordingGroup", world.Obj("allSupported", true, "includeGlobalResourceTypes", p.Region == e.options.Regions[0]),
			"_recording", !e.violates("aws-config-recorder", p, 0))
	})
	e.detectors = e.hexNamed("AWS.GuardDuty.Detector", "", 32, unless("aws-guardduty-enabled"), func(p world.Place, i int, _ string) world.Object {
		return world.Obj("status", "ENABLED", "createdAt", scalar(e.ago(300)), "serviceRole", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), 5)),
			"findingPublishingFrequency", "SIX_HOURS", "features", world.Items(world.Obj("name", "S3_DATA_EVENTS", "status", "ENABLED"), world.Obj("name", "EKS_AUDIT_LOGS", "status", "DISABLED"),
				world.Obj("name", "LAMBDA_NETWORK_LOGS", "status", "DISABLED"), world.Obj("name", "RUNTIME_MONITORING", "status", "DISABLED")),
			"tags", world.Obj("Owner", "platform"))
	})
	e.hubs = e.namedFirst("AWS.SecurityHub.Hub", []string{"default"}, "", unless("aws-securityhub-enabled"), func(p world.Place, _ int, _ string) world.Object {
		return world.Obj("HubArn", arn("securityhub", p, "hub/default"), "SubscribedAt", scalar(e.ago(300)), "AutoEnableControls", true)
	})
}

func monitoringService(c *Cloud) {
	e := c.inventory
	trailService(c)
	c.register("logs", "DescribeLogGroups", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.logGroups, field: "logGroups", token: "nextToken", next: "nextToken", max: "limit", page: 50,
			only: func(name string, _ world.Object) bool { return strings.HasPrefix(name, x.text("logGroupNamePrefix")) }})
	})
	c.register("logs", "DescribeMetricFilters", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.metricFilters, field: "metricFilters", token: "nextToken", next: "nextToken", max: "limit", page: 50})
	})
	c.register("monitoring", "DescribeAlarms", func(x *call) (answer, error) {
		// The answer has one page of alarms, split into two lists.
		out, err := x.list(c, listing{kind: e.alarms, field: "all", names: "AlarmNames", token: "NextToken", next: "NextToken", max: "MaxRecords", page: 100,
			shape: func(_ string, o world.Object) any { return o }})
		metric, composite := []any{}, []any{}
		for _, o := range out.Objects("all") {
			if o.Flag("_composite") {
				composite = append(composite, o.Visible())
			} else {
				metric = append(metric, o.Visible())
			}
		}
		return answer{Object: world.Obj("MetricAlarms", metric, "CompositeAlarms", composite, "NextToken", out.Get("NextToken"))}, err
	})
	c.register("events", "ListEventBuses", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.eventBuses, field: "EventBuses", token: "NextToken", next: "NextToken", max: "Limit", page: 100,
			only: func(name string, _ world.Object) bool { return strings.HasPrefix(name, x.text("NamePrefix")) }})
	})
	c.register("events", "ListRules", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.eventRules, field: "Rules", token: "NextToken", next: "NextToken", max: "Limit", page: 100,
			only: func(_ string, o world.Object) bool { return o.Text("EventBusName") == x.text("EventBusName") }})
	})
	c.register("events", "ListTargetsByRule", func(x *call) (answer, error) {
		o, ok := c.Get(e.eventRules, x.place(), x.text("EventBusName")+"/"+x.text("Rule"))
		if !ok {
			return answer{}, &failure{400, "ResourceNotFoundException", "Rule " + x.text("Rule") + " does not exist."}
		}
		return answer{Object: world.Obj("Targets", o.List("_targets"))}, nil
	})
	detectionService(c)
}

// trailService registers CloudTrail. A multi-region trail is listed in every region,
// unless the call excludes shadow trails.
func trailService(c *Cloud) {
	e := c.inventory
	home := func(x *call) world.Place { return world.Place{Account: x.account, Region: c.options.Regions[0]} }
	c.register("cloudtrail", "DescribeTrails", func(x *call) (answer, error) {
		shadows := x.body.Get("includeShadowTrails") != false // true by default
		requested := x.texts("trailNameList")
		list := []any{}
		c.List(e.trails, home(x), 0, -1, func(name string, o world.Object) bool {
			visible := x.region == home(x).Region || shadows && o.Flag("IsMultiRegionTrail")
			if visible && (len(requested) == 0 || slices.Contains(requested, name)) {
				list = append(list, o.Visible())
			}
			return true
		})
		return answer{Object: world.Obj("trailList", list)}, nil
	})
	trail := func(action, param string, write func(o world.Object) world.Object) {
		c.register("cloudtrail", action, func(x *call) (answer, error) {
			o, ok := c.Get(e.trails, home(x), afterSlash(x.text(param)))
			if !ok {
				return answer{}, &failure{400, "TrailNotFoundException", "Unknown trail: " + x.text(param)}
			}
			return answer{Object: write(o)}, nil
		})
	}
	trail("GetTrailStatus", "Name", func(o world.Object) world.Object {
		out := world.Obj("IsLogging", o.Get("_logging"), "LatestDeliveryTime", o.Get("_delivered"))
		if o.Text("CloudWatchLogsLogGroupArn") != "" {
			out = append(out, world.Obj("LatestCloudWatchLogsDeliveryTime", o.Get("_delivered"))...)
		}
		return out
	})
	trail("GetEventSelectors", "TrailName", func(o world.Object) world.Object {
		return world.Obj("TrailARN", o.Get("TrailARN"), "EventSelectors", world.Items(world.Obj("ReadWriteType", "All", "IncludeManagementEvents", true,
			"DataResources", world.Items(world.Obj("Type", "AWS::S3::Object", "Values", world.Items("arn:aws:s3"))))))
	})
}

func detectionService(c *Cloud) {
	e := c.inventory
	c.register("ec2", "GetEbsEncryptionByDefault", func(x *call) (answer, error) {
		o, _ := c.Get(e.regions, x.place(), x.region)
		return answer{Object: o.Visible()}, nil
	})
	c.register("access-analyzer", "ListAnalyzers", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.analyzers, field: "analyzers", token: "nextToken", next: "nextToken", max: "maxResults", page: 100})
	})
	c.register("config", "DescribeConfigurationRecorders", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.recorders, field: "ConfigurationRecorders", page: 10})
	})
	c.register("config", "DescribeConfigurationRecorderStatus", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.recorders, field: "ConfigurationRecordersStatus", page: 10, shape: func(name string, o world.Object) any {
			return world.Obj("name", name, "recording", o.Get("_recording"), "lastStatus", "SUCCESS")
		}})
	})
	c.register("guardduty", "ListDetectors", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.detectors, field: "detectorIds", page: 50, shape: func(name string, _ world.Object) any { return name }})
	})
	c.register("guardduty", "GetDetector", func(x *call) (answer, error) {
		o, ok := c.Get(e.detectors, x.place(), x.text("DetectorId"))
		if !ok {
			return answer{}, &failure{400, "BadRequestException", "The request is rejected because the input detectorId is not owned by the current account."}
		}
		return answer{Object: o.Visible()}, nil
	})
	c.register("securityhub", "DescribeHub", func(x *call) (answer, error) {
		o, ok := c.Get(e.hubs, x.place(), "default")
		if !ok {
			return answer{}, &failure{401, "InvalidAccessException", "Account " + x.account + " is not subscribed to AWS Security Hub"}
		}
		return answer{Object: o.Visible()}, nil
	})
	c.register("organizations", "DescribeOrganization", func(x *call) (answer, error) {
		root := c.Account(0).ID
		return answer{Object: world.Obj("Organization", world.Obj("Id", "o-simulated1", "Arn", "arn:aws:organizations::"+root+":organization/o-simulated1",
			"FeatureSet", "ALL", "MasterAccountId", root, "MasterAccountArn", "arn:aws:organizations::"+root+":account/o-simulated1/"+root))}, nil
	})
	c.register("organizations", "ListAccounts", c.listAccounts)
}

// listAccounts lists the accounts of the organisation; only its management
// account may.
func (c *Cloud) listAccounts(x *call) (answer, error) {
	if x.account != c.Account(0).ID {
		return answer{}, x.denied()
	}
	from := x.number("NextToken", 0)
	to := min(from+20, c.options.Accounts)
	out := world.Obj("Accounts", world.Each(to-from, func(i int) world.Object {
		id := c.Account(from + i).ID
		return world.Obj("Id", id, "Arn", "arn:aws:organizations::"+x.account+":account/o-simulated1/"+id, "Email", "aws+"+id+"@example.com",
			"Name", fmt.Sprintf("account %d", from+i), "Status", "ACTIVE", "State", "ACTIVE", "JoinedMethod", "CREATED", "JoinedTimestamp", c.ago(600))
	}))
	if to < c.options.Accounts {
		out = append(out, world.Obj("NextToken", fmt.Sprint(to))...)
	}
	return answer{Object: out}, nil
}
