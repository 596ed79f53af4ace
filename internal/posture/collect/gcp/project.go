package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/cloudresourcemanager/v1"

	"vigil/internal/posture"
)

// projects are the root of everything. What several rules ask of a project is
// spread over other services; where one of these cannot be read, the answer is
// unknown and not no.
var projects = single(declaration{
	Type: projectType, Service: "cloudresourcemanager", Doc: "A project: what everything belongs to.",
	Permissions: []string{
		"resourcemanager.projects.get", "resourcemanager.projects.getIamPolicy", "logging.sinks.list", "logging.logMetrics.list", "monitoring.alertPolicies.list",
	},
	Properties: append(properties{
		text("projectId", "Its id."),
		text("projectNumber", "Its number."),
		text("name", "As people call it."),
		text("lifecycleState", "ACTIVE or DELETE_REQUESTED."),
		text("createTime", "When it was made."),
		text("parent", "The folder or organisation it is in, such as folders/1234."),
		texts("auditConfigs", "What audit logs hold: a service and a kind each, such as allServices DATA_READ."),
		texts("auditExemptedMembers", "Whom audit logs leave out."),
		flag("auditsAllServices", "Reading and writing of all services is logged, for everybody."),
		flag("exportsAllLogs", "A sink without a filter exports every log entry."),
		flag("watchesOwnership", "A log metric counts changes of owners and an alert policy watches it."),
	}, policyProperties...),
	Edges: edges{
		policyEdge,
		edge("HAS", "Its log sinks and log metrics.", sinkType, logMetricType),
		edge("BINDS", "The roles that its policy gives to somebody.", roleType),
	},
	Events: events{
		on("cloudresourcemanager", "SetIamPolicy", "UpdateProject", "DeleteProject", "UndeleteProject"),
		each("logging", "google.logging.v2.ConfigServiceV2.", "CreateSink", "UpdateSink", "DeleteSink"),
		each("logging", "google.logging.v2.MetricsServiceV2.", "CreateLogMetric", "UpdateLogMetric", "DeleteLogMetric"),
		each("monitoring", "google.monitoring.v3.AlertPolicyService.", "CreateAlertPolicy", "UpdateAlertPolicy", "DeleteAlertPolicy"),
	},
}, func(ctx context.Context, s *scope) (*resource, error) {
	v, err := s.resources.Projects.Get(s.project).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	r := s.begin(projectType, "projects/"+v.ProjectId)
	r.Text("projectId", v.ProjectId).Text("projectNumber", s.number).Text("name", v.Name).Text("lifecycleState", v.LifecycleState)
	when(r, "createTime", v.CreateTime)
	if v.Parent != nil {
		r.Text("parent", v.Parent.Type+"s/"+v.Parent.Id)
	}
	err = s.detail(r, "resourcemanager.projects.getIamPolicy", append([]string{"auditConfigs", "auditExemptedMembers", "auditsAllServices", "BINDS"}, policyNames...), func() error {
		policy, err := s.projectPolicy(ctx)
		if err != nil {
			return err
		}
		audits(r, policy.AuditConfigs)
		given, err := s.projectBindings(ctx)
		for _, b := range given {
			r.Edge("BINDS", s.role(b.role))
		}
		s.grant(r, given)
		return err
	})
	if err == nil {
		err = s.exports(ctx, r)
	}
	if err == nil {
		err = s.watches(ctx, r)
	}
	return tag(r, v.Labels), err
})

// projectRef is the id of the project's own entity.
func (s *session) projectRef() posture.EntityID { return projectType.ID(s.account, "", s.project) }

// audits adds what audit logs hold.
func audits(r *resource, configs []*cloudresourcemanager.AuditConfig) {
	var all, exempted []string
	wanted := map[string]bool{"ADMIN_READ": true, "DATA_READ": true, "DATA_WRITE": true}
	for _, c := range configs {
		for _, kind := range c.AuditLogConfigs {
			all = append(all, c.Service+" "+kind.LogType)
			exempted = append(exempted, kind.ExemptedMembers...)
			if c.Service == "allServices" {
				delete(wanted, kind.LogType)
			}
		}
	}
	set(r, "auditConfigs", all)
	set(r, "auditExemptedMembers", exempted)
	r.Flag("auditsAllServices", len(wanted) == 0 && len(exempted) == 0)
}

// exports adds the project's sinks and whether one exports everything.
func (s *scope) exports(ctx context.Context, r *resource) error {
	return s.detail(r, "logging.sinks.list", []string{"exportsAllLogs", "HAS"}, func() error {
		sinks, err := s.logSinks(ctx)
		if err != nil && !isOff(s.sorted(err, "")) {
			return err
		}
		all := false
		for _, sink := range sinks {
			r.Edge("HAS", sinkType.ID(s.account, "", sink.Name))
			all = all || strings.TrimSpace(sink.Filter) == "" && !sink.Disabled && len(sink.Exclusions) == 0
		}
		r.Flag("exportsAllLogs", all)
		return nil
	})
}

// ownership is what a filter of log entries on changes of owners cannot do
// without.
var ownership = []string{"cloudresourcemanager.googleapis.com", "roles/owner"}

// watches adds the project's log metrics and whether one on changes of owners
// leads to an alert.
func (s *scope) watches(ctx context.Context, r *resource) error {
	return s.detail(r, "logging.logMetrics.list", []string{"watchesOwnership", "HAS"}, func() error {
		metrics, err := s.logMetrics(ctx)
		if err != nil && !isOff(s.sorted(err, "")) {
			return err
		}
		watched, err := s.alerts(ctx)
		if err != nil && !isOff(s.sorted(err, "")) {
			return s.sorted(err, "monitoring.alertPolicies.list")
		}
		seen := false
		for _, m := range metrics {
			r.Edge("HAS", logMetricType.ID(s.account, "", m.Name))
			fits := true
			for _, word := range ownership {
				fits = fits && strings.Contains(m.Filter, word)
			}
			seen = seen || fits && len(watched[m.Name]) > 0
		}
		r.Flag("watchesOwnership", seen)
		return nil
	})
}
