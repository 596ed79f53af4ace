package aws

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"vigil/internal/posture/collect"
)

var topics = detailed(declaration{
	Type: topicType, Scope: collect.PerRegion, Service: "sns", Doc: "What passes messages on to those who asked for them.",
	Permissions: []string{"sns:ListTopics", "sns:GetTopicAttributes"},
	Properties: append(properties{
		text("displayName", "What messages say they are from."),
		text("kmsMasterKeyId", "The key messages are encrypted with; absent when they are not."),
		flag("fifoTopic", "Messages come in order."),
	}, policyProperties...),
	Edges:  edges{edge("ENCRYPTED_BY", "The key of its messages.", keyType, aliasType)},
	Events: events{on("sns", "CreateTopic", "DeleteTopic", "SetTopicAttributes", "AddPermission", "RemovePermission")},
}, func(ctx context.Context, s *scope, names []string, page func([]snstypes.Topic) error) error {
	if len(names) > 0 {
		return page([]snstypes.Topic{{TopicArn: aws.String(s.arn("sns", names[0]))}})
	}
	return each(ctx, sns.NewListTopicsPaginator(sns.NewFromConfig(s.config), &sns.ListTopicsInput{}), func(out *sns.ListTopicsOutput) error { return page(out.Topics) })
}, func(ctx context.Context, s *scope, v *snstypes.Topic) (*resource, error) {
	arn := aws.ToString(v.TopicArn)
	r := s.resource(topicType, arn[lastColon(arn)+1:])
	r.XID = arn
	return whole(r, append([]string{"displayName", "kmsMasterKeyId", "fifoTopic", "ENCRYPTED_BY"}, policyNames...), func() error {
		out, err := sns.NewFromConfig(s.config).GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: v.TopicArn})
		if err != nil {
			return err
		}
		a := out.Attributes
		key := a["KmsMasterKeyId"]
		r.Text("displayName", a["DisplayName"]).Text("kmsMasterKeyId", key).Flag("fifoTopic", a["FifoTopic"] == "true").Edge("ENCRYPTED_BY", s.key(&key))
		if a["Policy"] != "" {
			policyFacts(r, a["Policy"])
		}
		return nil
	})
})

func lastColon(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return i
		}
	}
	return -1
}

var subscriptions = listed(declaration{
	Type: subscriptionType, Scope: collect.PerRegion, Service: "sns", Doc: "Somebody who asked for the messages of a topic.",
	Permissions: []string{"sns:ListSubscriptions"},
	Properties: properties{
		text("protocol", "How messages are sent: email, https, sqs, lambda and others."),
		text("endpoint", "Where they are sent."),
		text("owner", "The account that asked."),
		flag("confirmed", "The receiver has said yes."),
	},
	Edges: edges{
		edge("SUBSCRIBED_TO", "The topic.", topicType),
		edge("SENDS_TO", "The queue or function that gets messages.", queueType, functionType),
	},
	Events: events{on("sns", "Subscribe", "ConfirmSubscription", "Unsubscribe", "SetSubscriptionAttributes")},
}, func(ctx context.Context, s *scope, _ []string, page func([]snstypes.Subscription) error) error {
	return each(ctx, sns.NewListSubscriptionsPaginator(sns.NewFromConfig(s.config), &sns.ListSubscriptionsInput{}), func(out *sns.ListSubscriptionsOutput) error {
		return page(out.Subscriptions)
	})
}, func(s *scope, v *snstypes.Subscription) *resource {
	arn, topic := aws.ToString(v.SubscriptionArn), aws.ToString(v.TopicArn)
	topic = topic[lastColon(topic)+1:]
	name, confirmed := topic+"/"+arn[lastColon(arn)+1:], lastColon(arn) >= 0
	if !confirmed { // all that wait have the same name
		name = topic + "/" + aws.ToString(v.Protocol) + "/" + aws.ToString(v.Endpoint)
	}
	r := s.resource(subscriptionType, name)
	r.XID = arn
	return r.Text("protocol", aws.ToString(v.Protocol)).Text("endpoint", aws.ToString(v.Endpoint)).Text("owner", aws.ToString(v.Owner)).Flag("confirmed", confirmed).
		Edge("SUBSCRIBED_TO", s.refs(v.TopicArn)).Edge("SENDS_TO", s.refs(v.Endpoint))
})

var queues = detailed(declaration{
	Type: queueType, Scope: collect.PerRegion, Service: "sqs", Doc: "Where messages wait to be fetched.",
	Permissions: []string{"sqs:ListQueues", "sqs:GetQueueUrl", "sqs:GetQueueAttributes"},
	Properties: append(properties{
		text("queueUrl", "Where it answers."),
		text("kmsMasterKeyId", "The key messages are encrypted with; absent when none of KMS is."),
		flag("sqsManagedSseEnabled", "Messages are encrypted with a key of the service."),
		flag("fifoQueue", "Messages come in order."),
		long("messageRetentionSeconds", "How long a message waits before it is dropped."),
	}, policyProperties...),
	Edges: edges{
		edge("ENCRYPTED_BY", "The key of its messages.", keyType, aliasType),
		edge("FAILS_TO", "Where messages go that nobody could handle.", queueType),
	},
	Events: events{on("sqs", "CreateQueue", "DeleteQueue", "SetQueueAttributes", "AddPermission", "RemovePermission")},
}, func(ctx context.Context, s *scope, names []string, page func([]string) error) error {
	client := sqs.NewFromConfig(s.config)
	if len(names) > 0 {
		out, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &names[0]})
		if err != nil {
			return err
		}
		return page([]string{aws.ToString(out.QueueUrl)})
	}
	in := &sqs.ListQueuesInput{MaxResults: aws.Int32(1000)} // without a size it never pages, and stops at a thousand
	return each(ctx, sqs.NewListQueuesPaginator(client, in), func(out *sqs.ListQueuesOutput) error { return page(out.QueueUrls) })
}, func(ctx context.Context, s *scope, url *string) (*resource, error) {
	r := s.resource(queueType, lastPart(*url))
	r.XID = s.arn("sqs", lastPart(*url))
	r.Text("queueUrl", *url)
	names := append([]string{"kmsMasterKeyId", "sqsManagedSseEnabled", "fifoQueue", "messageRetentionSeconds", "ENCRYPTED_BY", "FAILS_TO"}, policyNames...)
	return whole(r, names, func() error {
		in := &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll}}
		out, err := sqs.NewFromConfig(s.config).GetQueueAttributes(ctx, in)
		if err != nil {
			return err
		}
		a := out.Attributes
		key := a["KmsMasterKeyId"]
		r.Text("kmsMasterKeyId", key).Flag("sqsManagedSseEnabled", a["SqsManagedSseEnabled"] == "true").Flag("fifoQueue", a["FifoQueue"] == "true").
			Edge("ENCRYPTED_BY", s.key(&key))
		if n, err := strconv.ParseInt(a["MessageRetentionPeriod"], 10, 64); err == nil {
			r.Number("messageRetentionSeconds", n)
		}
		if a["Policy"] != "" {
			policyFacts(r, a["Policy"])
		}
		var redrive struct{ DeadLetterTargetArn string }
		if json.Unmarshal([]byte(a["RedrivePolicy"]), &redrive) == nil {
			r.Edge("FAILS_TO", s.ref(redrive.DeadLetterTargetArn))
		}
		return nil
	})
})
