package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"vigil/internal/posture/collect"
)

var logGroups = listed(declaration{
	Type: logGroupType, Scope: collect.PerRegion, Service: "logs", Doc: "Where logs of one source are kept.",
	Permissions: []string{"logs:DescribeLogGroups"},
	Properties: properties{
		long("retentionInDays", "For how many days logs are kept; absent for ever."),
		text("kmsKeyId", "The key they are encrypted with; absent when the service's own is."),
		long("metricFilterCount", "How many metric filters read it."),
		text("logGroupClass", "STANDARD, INFREQUENT_ACCESS or DELIVERY."),
		flag("deletionProtectionEnabled", "It cannot be deleted by mistake."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key its logs are encrypted with.", keyType)},
	Events: events{on("logs", "CreateLogGroup", "DeleteLogGroup", "PutRetentionPolicy", "DeleteRetentionPolicy", "AssociateKmsKey", "DisassociateKmsKey")},
}, func(ctx context.Context, s *scope, names []string, page func([]logtypes.LogGroup) error) error {
	in := &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: onlyName(names), Limit: aws.Int32(50)}
	return each(ctx, cloudwatchlogs.NewDescribeLogGroupsPaginator(cloudwatchlogs.NewFromConfig(s.config), in), func(out *cloudwatchlogs.DescribeLogGroupsOutput) error {
		return page(out.LogGroups)
	})
}, func(s *scope, v *logtypes.LogGroup) *resource {
	r := s.resource(logGroupType, aws.ToString(v.LogGroupName))
	r.XID = strings.TrimSuffix(aws.ToString(v.Arn), ":*")
	r.Text("kmsKeyId", aws.ToString(v.KmsKeyId)).Text("logGroupClass", string(v.LogGroupClass)).
		Flag("deletionProtectionEnabled", aws.ToBool(v.DeletionProtectionEnabled))
	number(r, "retentionInDays", v.RetentionInDays)
	number(r, "metricFilterCount", v.MetricFilterCount)
	return r.Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
})

var metricFilters = listed(declaration{
	Type: metricFilterType, Scope: collect.PerRegion, Service: "logs", Doc: "What makes a metric of lines in a log.",
	Permissions: []string{"logs:DescribeMetricFilters"},
	Properties: properties{
		text("filterPattern", "Which lines it counts."),
		text("logGroupName", "The log it reads."),
		texts("metricNames", "The metrics it makes."),
	},
	Edges:  edges{edge("READS", "The log it reads.", logGroupType)},
	Events: events{on("logs", "PutMetricFilter", "DeleteMetricFilter")},
}, func(ctx context.Context, s *scope, _ []string, page func([]logtypes.MetricFilter) error) error {
	in := &cloudwatchlogs.DescribeMetricFiltersInput{Limit: aws.Int32(50)}
	return each(ctx, cloudwatchlogs.NewDescribeMetricFiltersPaginator(cloudwatchlogs.NewFromConfig(s.config), in), func(out *cloudwatchlogs.DescribeMetricFiltersOutput) error {
		return page(out.MetricFilters)
	})
}, func(s *scope, v *logtypes.MetricFilter) *resource {
	group := aws.ToString(v.LogGroupName)
	r := s.resource(metricFilterType, group+"/"+aws.ToString(v.FilterName))
	r.Name, r.XID = aws.ToString(v.FilterName), s.arn("logs", "log-group:"+group+":metric-filter:"+aws.ToString(v.FilterName))
	var metrics []string
	for _, t := range v.MetricTransformations {
		metrics = append(metrics, aws.ToString(t.MetricNamespace)+"/"+aws.ToString(t.MetricName))
	}
	return set(r, "metricNames", metrics).Text("filterPattern", aws.ToString(v.FilterPattern)).Text("logGroupName", group).
		Edge("READS", s.id(logGroupType, v.LogGroupName))
})

// An alarm is of a metric, or made of other alarms by a rule.
type alarm struct {
	cwtypes.MetricAlarm
	rule *string
}

var alarms = listed(declaration{
	Type: alarmType, Scope: collect.PerRegion, Service: "cloudwatch", Doc: "What calls somebody when a metric goes wrong.",
	Permissions: []string{"cloudwatch:DescribeAlarms"},
	Properties: properties{
		text("namespace", "Where its metric comes from."),
		text("metricName", "Its metric."),
		text("alarmRule", "Of an alarm made of others: when it goes off."),
		text("comparisonOperator", "How the metric is compared with the threshold."),
		flag("actionsEnabled", "It calls somebody."),
		texts("alarmActions", "Whom it calls."),
	},
	Edges:  edges{edge("NOTIFIES", "Whom it calls.", topicType, functionType)},
	Events: events{on("monitoring", "PutMetricAlarm", "PutCompositeAlarm", "DeleteAlarms", "EnableAlarmActions", "DisableAlarmActions")},
}, func(ctx context.Context, s *scope, names []string, page func([]alarm) error) error {
	in := &cloudwatch.DescribeAlarmsInput{
		AlarmNames: names, MaxRecords: aws.Int32(100),
		AlarmTypes: []cwtypes.AlarmType{cwtypes.AlarmTypeMetricAlarm, cwtypes.AlarmTypeCompositeAlarm},
	}
	return each(ctx, cloudwatch.NewDescribeAlarmsPaginator(cloudwatch.NewFromConfig(s.config), in), func(out *cloudwatch.DescribeAlarmsOutput) error {
		var all []alarm
		for _, m := range out.MetricAlarms {
			all = append(all, alarm{MetricAlarm: m})
		}
		for _, c := range out.CompositeAlarms {
			all = append(all, alarm{cwtypes.MetricAlarm{AlarmName: c.AlarmName, AlarmArn: c.AlarmArn, ActionsEnabled: c.ActionsEnabled, AlarmActions: c.AlarmActions}, c.AlarmRule})
		}
		return page(all)
	})
}, func(s *scope, v *alarm) *resource {
	r := s.resource(alarmType, aws.ToString(v.AlarmName))
	r.XID = aws.ToString(v.AlarmArn)
	r.Text("namespace", aws.ToString(v.Namespace)).Text("metricName", aws.ToString(v.MetricName)).
		Text("comparisonOperator", string(v.ComparisonOperator)).Flag("actionsEnabled", aws.ToBool(v.ActionsEnabled)).
		Text("alarmRule", aws.ToString(v.rule))
	for _, action := range v.AlarmActions {
		r.Edge("NOTIFIES", s.ref(action))
	}
	return set(r, "alarmActions", v.AlarmActions)
})

var eventBuses = listed(declaration{
	Type: eventBusType, Scope: collect.PerRegion, Service: "events", Doc: "Where events of the account meet its rules.",
	Permissions: []string{"events:ListEventBuses"},
	Properties:  policyProperties,
	Events:      events{on("events", "CreateEventBus", "UpdateEventBus", "DeleteEventBus", "PutPermission", "RemovePermission")},
}, func(ctx context.Context, s *scope, names []string, page func([]eventtypes.EventBus) error) error {
	return listBuses(ctx, s, onlyName(names), page)
}, func(s *scope, v *eventtypes.EventBus) *resource {
	r := s.resource(eventBusType, aws.ToString(v.Name))
	r.XID = aws.ToString(v.Arn)
	if v.Policy != nil {
		policyFacts(r, *v.Policy)
	}
	return r
})

func listBuses(ctx context.Context, s *scope, prefix *string, page func([]eventtypes.EventBus) error) error {
	in := &eventbridge.ListEventBusesInput{NamePrefix: prefix, Limit: aws.Int32(100)}
	for {
		out, err := eventbridge.NewFromConfig(s.config).ListEventBuses(ctx, in)
		if err != nil {
			return err
		}
		if err := page(out.EventBuses); err != nil || aws.ToString(out.NextToken) == "" {
			return err
		}
		in.NextToken = out.NextToken
	}
}

var eventRules = detailed(declaration{
	Type: eventRuleType, Scope: collect.PerRegion, Service: "events", Doc: "What happens when an event comes by.",
	Permissions: []string{"events:ListEventBuses", "events:ListRules", "events:ListTargetsByRule"},
	Properties: properties{
		text("state", "ENABLED when it works."),
		text("eventPattern", "Which events it waits for."),
		text("scheduleExpression", "When it happens by itself."),
		text("managedBy", "The service that made it."),
		texts("targets", "What it calls."),
	},
	Edges: edges{
		edge("ON_BUS", "Where it waits.", eventBusType),
		edge("CALLS", "What it calls.", functionType, topicType, queueType, logGroupType, ecsClusterType, eventBusType),
		edge("HAS_ROLE", "The role it calls with.", roleType),
	},
	Events: events{on("events", "PutRule", "DeleteRule", "EnableRule", "DisableRule", "PutTargets", "RemoveTargets")},
}, func(ctx context.Context, s *scope, _ []string, page func([]eventtypes.Rule) error) error {
	return listBuses(ctx, s, nil, func(buses []eventtypes.EventBus) error {
		for _, bus := range buses {
			in := &eventbridge.ListRulesInput{EventBusName: bus.Name, Limit: aws.Int32(100)}
			for more := true; more; more = aws.ToString(in.NextToken) != "" {
				out, err := eventbridge.NewFromConfig(s.config).ListRules(ctx, in)
				if err != nil {
					return err
				}
				if err := page(out.Rules); err != nil {
					return err
				}
				in.NextToken = out.NextToken
			}
		}
		return nil
	})
}, func(ctx context.Context, s *scope, v *eventtypes.Rule) (*resource, error) {
	r := s.resource(eventRuleType, aws.ToString(v.EventBusName)+"/"+aws.ToString(v.Name))
	r.Name, r.XID = aws.ToString(v.Name), aws.ToString(v.Arn)
	r.Text("state", string(v.State)).Text("eventPattern", aws.ToString(v.EventPattern)).Text("scheduleExpression", aws.ToString(v.ScheduleExpression)).
		Text("managedBy", aws.ToString(v.ManagedBy)).Edge("ON_BUS", s.id(eventBusType, v.EventBusName)).Edge("HAS_ROLE", s.refs(v.RoleArn))
	return r, detail(r, []string{"targets", "CALLS"}, func() error {
		out, err := eventbridge.NewFromConfig(s.config).ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: v.Name, EventBusName: v.EventBusName})
		if err != nil {
			return err
		}
		var targets []string
		for _, t := range out.Targets {
			targets = append(targets, aws.ToString(t.Arn))
			r.Edge("CALLS", s.refs(t.Arn))
		}
		set(r, "targets", targets)
		return nil
	})
})
