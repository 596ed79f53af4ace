package aws

import (
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

// messages contains the kinds of messaging services.
type messages struct {
	topics, subscriptions, queues *world.Kind
}

func (e *inventory) makeMessages() {
	e.topics = e.wordNamed("AWS.SNS.Topic", "topic", e.share(15, 4), func(p world.Place, i int, name string) world.Object {
		return world.Obj("TopicArn", arn("sns", p, name), "Owner", p.Account, "DisplayName", "news "+name, "FifoTopic", false,
			"KmsMasterKeyId", "alias/"+nth(e.aliases, p, i), "Policy", e.openPolicy("aws-sns-public", p, i, "sns:Publish", arn("sns", p, name)))
	})
	e.subscriptions = e.numberNamed("AWS.SNS.Subscription", func(p world.Place, i int) string {
		return fmt.Sprintf("%s/s-%d", nth(e.topics, p, i), i)
	}, e.share(15, 3), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("TopicArn", arn("sns", p, nth(e.topics, p, i)), "Owner", p.Account, "SubscriptionArn", arn("sns", p, nth(e.topics, p, i)+":"+afterSlash(name)))
		if i%2 == 0 {
			return append(o, world.Obj("Protocol", "sqs", "Endpoint", arn("sqs", p, nth(e.queues, p, i)))...)
		}
		return append(o, world.Obj("Protocol", "email", "Endpoint", fmt.Sprintf("team%d@example.com", i))...)
	})
	e.queues = e.wordNamed("AWS.SQS.Queue", "queue", e.share(20, 4), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("QueueArn", arn("sqs", p, name), "SqsManagedSseEnabled", true, "FifoQueue", false, "MessageRetentionPeriod", 345600,
			"Policy", e.openPolicy("aws-sqs-public", p, i, "sqs:SendMessage", arn("sqs", p, name)))
		if i%3 == 0 {
			o = o.With("SqsManagedSseEnabled", false).With("KmsMasterKeyId", e.keyARN(p, i))
		}
		if i > 0 {
			o = append(o, world.Obj("RedrivePolicy", `{"deadLetterTargetArn":"`+arn("sqs", p, e.queues.Name(p, 0))+`","maxReceiveCount":5}`)...)
		}
		return o
	})
}

// openPolicy returns a policy that allows everybody an action. A condition limits it to
// the account unless the resource violates the rule.
func (e *inventory) openPolicy(rule string, p world.Place, i int, action, resource string) string {
	statement := allow("AWS:*", action, resource)
	if !e.violates(rule, p, i) {
		statement = withCondition(statement, "StringEquals", "aws:SourceAccount", p.Account)
	}
	return policy(statement)
}

func messageService(c *Cloud) {
	e := c.inventory
	c.register("sns", "ListTopics", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.topics, field: "Topics", token: "NextToken", next: "NextToken", page: 100,
			shape: func(_ string, o world.Object) any { return world.Obj("TopicArn", o.Get("TopicArn")) }})
	})
	c.register("sns", "GetTopicAttributes", func(x *call) (answer, error) {
		o, ok := c.Get(e.topics, x.place(), afterColon(x.text("TopicArn")))
		if !ok {
			return answer{}, &failure{404, "NotFound", "Topic does not exist"}
		}
		var entries []any
		for _, f := range o.Visible() {
			entries = append(entries, world.Obj("key", f.Name, "value", scalar(f.Value)))
		}
		return answer{Object: world.Obj("Attributes", listOf("entry", entries))}, nil
	})
	c.register("sns", "ListSubscriptions", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.subscriptions, field: "Subscriptions", token: "NextToken", next: "NextToken", page: 100})
	})
	url := func(x *call, name string) string {
		return "https://sqs." + x.region + ".amazonaws.com/" + x.account + "/" + name
	}
	c.register("sqs", "ListQueues", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.queues, field: "QueueUrls", token: "NextToken", next: "NextToken", max: "MaxResults", page: 1000,
			shape: func(name string, _ world.Object) any { return url(x, name) }})
	})
	noQueue := &failure{400, "QueueDoesNotExist", "The specified queue does not exist."}
	c.register("sqs", "GetQueueUrl", func(x *call) (answer, error) {
		if _, ok := c.Get(e.queues, x.place(), x.text("QueueName")); !ok {
			return answer{}, noQueue
		}
		return answer{Object: world.Obj("QueueUrl", url(x, x.text("QueueName")))}, nil
	})
	c.register("sqs", "GetQueueAttributes", func(x *call) (answer, error) {
		o, ok := c.Get(e.queues, x.place(), afterSlash(x.text("QueueUrl")))
		if !ok {
			return answer{}, noQueue
		}
		attributes := world.Object{}
		for _, f := range o.Visible() {
			attributes = append(attributes, world.Field{Name: f.Name, Value: scalar(f.Value)})
		}
		return answer{Object: world.Obj("Attributes", attributes)}, nil
	})
}

// afterColon returns what follows the last colon.
func afterColon(s string) string { return s[strings.LastIndex(s, ":")+1:] }
