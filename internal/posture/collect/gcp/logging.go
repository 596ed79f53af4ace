package gcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/api/logging/v2"

	"vigil/internal/posture"
)

// logSinks returns the project's sinks; there are two hundred at most.
func (s *scope) logSinks(ctx context.Context) ([]*logging.LogSink, error) {
	return s.shared.sinks.get(ctx, func() (all []*logging.LogSink, err error) {
		err = s.logging.Projects.Sinks.List("projects/"+s.project).PageSize(1000).Pages(ctx, func(l *logging.ListSinksResponse) error {
			all = append(all, l.Sinks...)
			return nil
		})
		return all, err
	})
}

// logMetrics returns the project's log metrics; there are five hundred at most.
func (s *scope) logMetrics(ctx context.Context) ([]*logging.LogMetric, error) {
	return s.shared.metrics.get(ctx, func() (all []*logging.LogMetric, err error) {
		err = s.logging.Projects.Metrics.List("projects/"+s.project).PageSize(1000).Pages(ctx, func(l *logging.ListLogMetricsResponse) error {
			all = append(all, l.Metrics...)
			return nil
		})
		return all, err
	})
}

var sinks = listed(declaration{
	Type: sinkType, Service: "logging", Doc: "Where log entries are sent to.",
	Permissions: []string{"logging.sinks.list", "logging.sinks.get"},
	Properties: properties{
		text("filter", "Which entries; all when absent."),
		text("destination", "Where to, such as storage.googleapis.com/bucket."),
		flag("disabled", "It sends nothing."),
		texts("exclusions", "Filters of entries that are left out."),
		text("writerIdentity", "Whom it writes as."),
		text("createTime", "When it was made."),
	},
	Edges: edges{
		edge("WRITES_TO", "Where to.", bucketType, datasetType, topicType, logBucketType, projectType),
	},
	Events: events{each("logging", "google.logging.v2.ConfigServiceV2.", "CreateSink", "UpdateSink", "DeleteSink")},
}, func(ctx context.Context, s *scope, page func([]*logging.LogSink) error) error {
	all, err := s.logSinks(ctx)
	if err != nil {
		return err
	}
	return page(all)
}, func(ctx context.Context, s *scope, at spot) (*logging.LogSink, error) {
	return s.logging.Projects.Sinks.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *logging.LogSink) *resource {
	r := s.begin(sinkType, "projects/"+s.project+"/sinks/"+v.Name)
	r.Text("filter", v.Filter).Text("destination", v.Destination).Flag("disabled", v.Disabled).Text("writerIdentity", v.WriterIdentity)
	when(r, "createTime", v.CreateTime)
	var left []string
	for _, e := range v.Exclusions {
		left = append(left, e.Filter)
	}
	return set(r, "exclusions", left).Edge("WRITES_TO", s.destination(v.Destination))
})

// destination returns the id of what a sink writes to.
func (s *session) destination(name string) posture.EntityID {
	host, path, _ := strings.Cut(name, "/")
	switch strings.TrimSuffix(host, ".googleapis.com") {
	case "storage":
		return s.bucket(path)
	case "bigquery":
		return s.ref(path, datasetType)
	case "pubsub":
		return s.ref(path, topicType)
	case "logging":
		if id := s.ref(path, logBucketType); id != "" {
			return id
		}
		return s.ref(path, projectType)
	}
	return ""
}

var logMetrics = listed(declaration{
	Type: logMetricType, Service: "logging", Doc: "What log entries are counted.",
	Permissions: []string{"logging.logMetrics.list", "logging.logMetrics.get", "monitoring.alertPolicies.list"},
	Properties: properties{
		text("filter", "Which entries."),
		text("description", "What its owner says it is for."),
		flag("disabled", "It counts nothing."),
		text("createTime", "When it was made."),
		flag("watched", "An alert policy watches it."),
	},
	Edges: edges{edge("WATCHED_BY", "The alert policies that watch it.", alertPolicyType)},
	Events: events{
		each("logging", "google.logging.v2.MetricsServiceV2.", "CreateLogMetric", "UpdateLogMetric", "DeleteLogMetric"),
	},
}, func(ctx context.Context, s *scope, page func([]watched) error) error {
	all, err := s.logMetrics(ctx)
	if err != nil {
		return err
	}
	items := make([]watched, len(all))
	for i, m := range all {
		items[i] = s.watched(ctx, m)
	}
	return page(items)
}, func(ctx context.Context, s *scope, at spot) (watched, error) {
	m, err := s.logging.Projects.Metrics.Get(at.path).Context(ctx).Do()
	if err != nil {
		return watched{}, err
	}
	return s.watched(ctx, m), nil
}, func(s *scope, v watched) *resource {
	r := s.begin(logMetricType, "projects/"+s.project+"/metrics/"+url.PathEscape(v.Name))
	r.Name = v.Name
	r.Text("filter", v.Filter).Text("description", v.Description).Flag("disabled", v.Disabled)
	when(r, "createTime", v.CreateTime)
	if v.err != nil {
		return r.Unread(v.err, "watched", "WATCHED_BY")
	}
	for _, id := range v.by {
		r.Edge("WATCHED_BY", id)
	}
	return r.Flag("watched", len(v.by) > 0)
})

// watched is a log metric and who watches it.
type watched struct {
	*logging.LogMetric
	by  []posture.EntityID
	err error // why that is not known
}

func (s *scope) watched(ctx context.Context, m *logging.LogMetric) watched {
	by, err := s.alerts(ctx)
	if err = s.sorted(err, "monitoring.alertPolicies.list"); isOff(err) {
		err = nil
	}
	return watched{m, slices.Clone(by[m.Name]), err}
}

var logBuckets = listed(declaration{
	Type: logBucketType, Service: "logging", Doc: "Where log entries are kept.",
	Permissions: []string{"logging.buckets.list", "logging.buckets.get"},
	Properties: properties{
		long("retentionDays", "How long."),
		flag("locked", "That cannot be shortened any more."),
		text("lifecycleState", "ACTIVE and others."),
		flag("analyticsEnabled", "It can be queried."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType)},
	Events: events{each("logging", "google.logging.v2.ConfigServiceV2.", "CreateBucket", "UpdateBucket", "DeleteBucket", "UndeleteBucket")},
}, func(ctx context.Context, s *scope, page func([]*logging.LogBucket) error) error {
	return s.logging.Projects.Locations.Buckets.List("projects/"+s.project+"/locations/-").PageSize(1000).
		Pages(ctx, func(l *logging.ListBucketsResponse) error { return page(l.Buckets) })
}, func(ctx context.Context, s *scope, at spot) (*logging.LogBucket, error) {
	return s.logging.Projects.Locations.Buckets.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *logging.LogBucket) *resource {
	r := s.begin(logBucketType, v.Name)
	r.Number("retentionDays", v.RetentionDays).Flag("locked", v.Locked).Text("lifecycleState", v.LifecycleState).Flag("analyticsEnabled", v.AnalyticsEnabled)
	if v.CmekSettings != nil {
		r.Text("kmsKeyName", v.CmekSettings.KmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(v.CmekSettings.KmsKeyName))
	}
	return r
})
