package gcp

import (
	"context"
	"regexp"
	"slices"

	"google.golang.org/api/monitoring/v3"

	"vigil/internal/posture"
)

// userMetric finds the log metrics that a condition of an alert policy is about.
var userMetric = regexp.MustCompile(`logging\.googleapis\.com/user/([^"'\s)]+)`)

// alerts returns the alert policies that watch each log metric.
func (s *scope) alerts(ctx context.Context) (map[string][]posture.EntityID, error) {
	return s.shared.alerts.get(ctx, func() (map[string][]posture.EntityID, error) {
		watched := map[string][]posture.EntityID{}
		err := listAlertPolicies(ctx, s, func(all []*monitoring.AlertPolicy) error {
			for _, p := range all {
				if !p.Enabled {
					continue
				}
				for _, filter := range conditions(p) {
					for _, named := range userMetric.FindAllStringSubmatch(filter, -1) {
						if id := s.ref(p.Name, alertPolicyType); !slices.Contains(watched[named[1]], id) {
							watched[named[1]] = append(watched[named[1]], id)
						}
					}
				}
			}
			return nil
		})
		return watched, err
	})
}

func listAlertPolicies(ctx context.Context, s *scope, page func([]*monitoring.AlertPolicy) error) error {
	return s.monitoring.Projects.AlertPolicies.List("projects/"+s.project).PageSize(500).
		Pages(ctx, func(l *monitoring.ListAlertPoliciesResponse) error { return page(l.AlertPolicies) })
}

// conditions returns what the conditions of an alert policy look at.
func conditions(p *monitoring.AlertPolicy) []string {
	var all []string
	for _, c := range p.Conditions {
		switch {
		case c.ConditionThreshold != nil:
			all = append(all, c.ConditionThreshold.Filter)
		case c.ConditionAbsent != nil:
			all = append(all, c.ConditionAbsent.Filter)
		case c.ConditionMatchedLog != nil:
			all = append(all, c.ConditionMatchedLog.Filter)
		case c.ConditionMonitoringQueryLanguage != nil:
			all = append(all, c.ConditionMonitoringQueryLanguage.Query)
		case c.ConditionPrometheusQueryLanguage != nil:
			all = append(all, c.ConditionPrometheusQueryLanguage.Query)
		}
	}
	return all
}

var alertPolicies = listed(declaration{
	Type: alertPolicyType, Service: "monitoring", Doc: "When somebody is told of something.",
	Permissions: []string{"monitoring.alertPolicies.list", "monitoring.alertPolicies.get"},
	Properties: properties{
		text("displayName", "As people call it."),
		flag("enabled", "It is in force."),
		texts("conditions", "What it looks at."),
		text("combiner", "Whether any or all of its conditions must hold."),
	},
	Edges:  edges{edge("NOTIFIES", "Who is told.", channelType)},
	Events: events{each("monitoring", "google.monitoring.v3.AlertPolicyService.", "CreateAlertPolicy", "UpdateAlertPolicy", "DeleteAlertPolicy")},
}, listAlertPolicies, func(ctx context.Context, s *scope, at spot) (*monitoring.AlertPolicy, error) {
	return s.monitoring.Projects.AlertPolicies.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *monitoring.AlertPolicy) *resource {
	r := s.begin(alertPolicyType, v.Name).Text("displayName", v.DisplayName).Text("combiner", v.Combiner).Flag("enabled", v.Enabled)
	if v.DisplayName != "" {
		r.Name = v.DisplayName
	}
	set(r, "conditions", conditions(v))
	for _, channel := range v.NotificationChannels {
		r.Edge("NOTIFIES", s.ref(channel, channelType))
	}
	return tag(r, v.UserLabels)
})

var channels = listed(declaration{
	Type: channelType, Service: "monitoring", Doc: "Who is told when an alert policy says so.",
	Permissions: []string{"monitoring.notificationChannels.list", "monitoring.notificationChannels.get"},
	Properties: properties{
		text("displayName", "As people call it."),
		text("type", "email, slack, pubsub and others."),
		flag("enabled", "It is in use."),
		text("verificationStatus", "VERIFIED or UNVERIFIED, where that is asked for."),
	},
	Events: events{each("monitoring", "google.monitoring.v3.NotificationChannelService.", "CreateNotificationChannel", "UpdateNotificationChannel", "DeleteNotificationChannel")},
}, func(ctx context.Context, s *scope, page func([]*monitoring.NotificationChannel) error) error {
	return s.monitoring.Projects.NotificationChannels.List("projects/"+s.project).PageSize(500).
		Pages(ctx, func(l *monitoring.ListNotificationChannelsResponse) error { return page(l.NotificationChannels) })
}, func(ctx context.Context, s *scope, at spot) (*monitoring.NotificationChannel, error) {
	return s.monitoring.Projects.NotificationChannels.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *monitoring.NotificationChannel) *resource {
	r := s.begin(channelType, v.Name).Text("displayName", v.DisplayName).Text("type", v.Type).Flag("enabled", v.Enabled).Text("verificationStatus", v.VerificationStatus)
	if v.DisplayName != "" {
		r.Name = v.DisplayName
	}
	return tag(r, v.UserLabels)
})
