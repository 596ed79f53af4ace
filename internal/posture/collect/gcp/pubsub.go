package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/pubsub/v1"
)

var topics = listed(declaration{
	Type: topicType, Service: "pubsub", Doc: "What messages are sent to.",
	Permissions: []string{"pubsub.topics.list", "pubsub.topics.get"},
	Properties: properties{
		text("kmsKeyName", "The customer's key that encrypts messages; absent when Google's does."),
		texts("allowedPersistenceRegions", "Where messages may be kept; anywhere when absent."),
		text("messageRetentionDuration", "How long messages are kept after they were received."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key that encrypts messages.", cryptoKeyType)},
	Events: events{each("pubsub", "google.pubsub.v1.Publisher.", "CreateTopic", "UpdateTopic", "DeleteTopic")},
}, func(ctx context.Context, s *scope, page func([]*pubsub.Topic) error) error {
	return s.pubsub.Projects.Topics.List("projects/"+s.project).PageSize(1000).Pages(ctx, func(l *pubsub.ListTopicsResponse) error { return page(l.Topics) })
}, func(ctx context.Context, s *scope, at spot) (*pubsub.Topic, error) {
	return s.pubsub.Projects.Topics.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *pubsub.Topic) *resource {
	r := s.begin(topicType, v.Name).Text("kmsKeyName", v.KmsKeyName).Text("messageRetentionDuration", v.MessageRetentionDuration)
	if v.MessageStoragePolicy != nil {
		set(r, "allowedPersistenceRegions", v.MessageStoragePolicy.AllowedPersistenceRegions)
	}
	return tag(r.Edge("ENCRYPTED_BY", s.keyRef(v.KmsKeyName)), v.Labels)
})

var subscriptions = listed(declaration{
	Type: subscriptionType, Service: "pubsub", Doc: "Who receives the messages of a topic.",
	Permissions: []string{"pubsub.subscriptions.list", "pubsub.subscriptions.get"},
	Properties: properties{
		text("pushEndpoint", "Where messages are sent, without what follows the path; absent when they are fetched."),
		flag("pushAuthenticated", "Messages that are sent say who sends them."),
		text("state", "ACTIVE or RESOURCE_ERROR."),
		long("ackDeadlineSeconds", "How long a receiver has for a message."),
		text("messageRetentionDuration", "How long messages are kept."),
		text("expirationTtl", "After how long without use it goes away; absent when it stays."),
	},
	Edges: edges{
		edge("SUBSCRIBES_TO", "The topic.", topicType),
		edge("RUNS_AS", "Whom messages are sent as.", serviceAccountType, principalType),
		edge("DEAD_LETTERS_TO", "The topic for messages that nobody takes.", topicType),
		edge("WRITES_TO", "The bucket that messages go to.", bucketType),
	},
	Events: events{each("pubsub", "google.pubsub.v1.Subscriber.", "CreateSubscription", "UpdateSubscription", "DeleteSubscription", "ModifyPushConfig")},
}, func(ctx context.Context, s *scope, page func([]*pubsub.Subscription) error) error {
	return s.pubsub.Projects.Subscriptions.List("projects/"+s.project).PageSize(1000).
		Pages(ctx, func(l *pubsub.ListSubscriptionsResponse) error { return page(l.Subscriptions) })
}, func(ctx context.Context, s *scope, at spot) (*pubsub.Subscription, error) {
	return s.pubsub.Projects.Subscriptions.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *pubsub.Subscription) *resource {
	r := s.begin(subscriptionType, v.Name).Text("state", v.State).Number("ackDeadlineSeconds", v.AckDeadlineSeconds).
		Text("messageRetentionDuration", v.MessageRetentionDuration).Edge("SUBSCRIBES_TO", s.ref(v.Topic, topicType))
	if p := v.PushConfig; p != nil && p.PushEndpoint != "" {
		endpoint, _, _ := strings.Cut(p.PushEndpoint, "?") // tokens are put there
		r.Text("pushEndpoint", endpoint).Flag("pushAuthenticated", p.OidcToken != nil)
		if p.OidcToken != nil {
			r.Edge("RUNS_AS", s.serviceAccount(p.OidcToken.ServiceAccountEmail))
		}
	}
	if v.ExpirationPolicy != nil {
		r.Text("expirationTtl", v.ExpirationPolicy.Ttl)
	}
	if v.DeadLetterPolicy != nil {
		r.Edge("DEAD_LETTERS_TO", s.ref(v.DeadLetterPolicy.DeadLetterTopic, topicType))
	}
	if v.CloudStorageConfig != nil {
		r.Edge("WRITES_TO", s.bucket(v.CloudStorageConfig.Bucket))
	}
	return tag(r, v.Labels)
})
