package derive

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// awsListeners adds how the listeners of a load balancer handle plain HTTP.
var awsListeners = resource.Function{
	Properties: []resource.Property{
		{Name: "listeners", Kind: resource.Texts, Doc: "Protocol and port of its listeners, with redirect for one whose rules all redirect to HTTPS."},
		{Name: "httpWithoutRedirect", Kind: resource.Flag, Doc: "An HTTP listener does more than redirect to HTTPS."},
	},
	Permissions: []string{"elasticloadbalancing:DescribeRules"},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		plainHTTP := false
		for _, l := range in.Value.Array() {
			redirects := redirectsToHTTPS(l.Get("DefaultActions"))
			if redirects {
				var err error
				if redirects, err = rulesRedirect(in, l); err != nil {
					return err
				}
			}
			text := fmt.Sprintf("%s %d", l.Get("Protocol").String(), l.Get("Port").Int())
			if redirects {
				text += " redirect"
			}
			all = append(all, text)
			plainHTTP = plainHTTP || l.Get("Protocol").Str == "HTTP" && !redirects
		}
		b.Set("listeners", all).Flag("httpWithoutRedirect", plainHTTP)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("httpWithoutRedirect", false) },
}

// redirectsToHTTPS reports whether one of the actions of a rule redirects to HTTPS.
func redirectsToHTTPS(actions gjson.Result) bool {
	return slices.ContainsFunc(actions.Array(), func(a gjson.Result) bool {
		return a.Get("Type").Str == "redirect" && a.Get("RedirectConfig.Protocol").Str == "HTTPS"
	})
}

// rulesRedirect reports whether all rules of a listener redirect to HTTPS. Its default
// action is used only for requests that no other rule matches.
func rulesRedirect(in resource.FunctionInput, listener gjson.Result) (bool, error) {
	pages, err := in.Caller.Call(in.Ctx, resource.NewRequest("elbv2.DescribeRules", `{ListenerArn: "${ListenerArn}", PageSize: 400}`), &resource.Item{Result: listener})
	if err != nil {
		return false, err
	}
	for _, page := range pages {
		for _, rule := range page.Get("Rules").Array() {
			if !redirectsToHTTPS(rule.Get("Actions")) {
				return false, nil
			}
		}
	}
	return true, nil
}

// awsEventSelectors adds the events that a trail records.
var awsEventSelectors = resource.Function{
	Properties: []resource.Property{
		{Name: "eventSelectors", Kind: resource.Texts, Doc: "What it records: management events with All, ReadOnly or WriteOnly, and data events."},
		{Name: "logsAllManagementEvents", Kind: resource.Flag, Doc: "It records all management events, reads and writes."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		texts, all := selectedEvents(in.Value)
		b.Set("eventSelectors", texts).Flag("logsAllManagementEvents", all)
		return nil
	},
}

// selectedEvents describes the events that a trail records, and reports whether they include
// every management event.
func selectedEvents(answer gjson.Result) (texts []string, all bool) {
	reads, writes := false, false
	for _, e := range answer.Get("EventSelectors").Array() {
		if e.Get("IncludeManagementEvents").Bool() {
			kind := e.Get("ReadWriteType").String()
			texts = append(texts, "management "+kind)
			if len(e.Get("ExcludeManagementEventSources").Array()) == 0 {
				reads = reads || kind != "WriteOnly"
				writes = writes || kind != "ReadOnly"
			}
		}
		for _, t := range e.Get("DataResources.#.Type").Array() {
			texts = append(texts, "data "+t.String())
		}
	}
	for _, e := range answer.Get("AdvancedEventSelectors").Array() {
		category, extent := "", "All"
		for _, f := range e.Get("FieldSelectors").Array() {
			equals := f.Get("Equals").Array()
			switch field := f.Get("Field").Str; {
			case field == "eventCategory" && len(equals) > 0:
				category = equals[0].String()
			case field == "readOnly" && len(equals) == 1 && extent == "All":
				extent = map[string]string{"true": "ReadOnly", "false": "WriteOnly"}[equals[0].Str]
			default: // anything else, such as a second condition on readOnly
				extent = "narrowed"
			}
		}
		texts = append(texts, fmt.Sprintf("advanced %s %s", category, extent))
		if category == "Management" {
			reads = reads || extent == "All" || extent == "ReadOnly"
			writes = writes || extent == "All" || extent == "WriteOnly"
		}
	}
	return texts, reads && writes
}

// selectedObjectEvents reports whether a trail records that objects of all S3
// buckets are read, and that they are written.
func selectedObjectEvents(answer gjson.Result) (reads, writes bool) {
	const object = "AWS::S3::Object"
	for _, e := range answer.Get("EventSelectors").Array() {
		for _, d := range e.Get("DataResources").Array() {
			allBuckets := slices.ContainsFunc(d.Get("Values").Array(), func(v gjson.Result) bool {
				return slices.Contains([]string{"arn:aws:s3", "arn:aws:s3:::", "arn:aws-us-gov:s3", "arn:aws-us-gov:s3:::", "arn:aws-cn:s3", "arn:aws-cn:s3:::"}, v.Str)
			})
			if kind := e.Get("ReadWriteType").Str; allBuckets && d.Get("Type").Str == object {
				reads = reads || kind != "WriteOnly"
				writes = writes || kind != "ReadOnly"
			}
		}
	}
	for _, e := range answer.Get("AdvancedEventSelectors").Array() {
		data, objects, narrowed := false, false, false
		read, write := true, true // unless the field readOnly selects one of them
		for _, f := range e.Get("FieldSelectors").Array() {
			hasValue := func(value string) bool {
				equals := f.Get("Equals").Array()
				return len(equals) == 1 && equals[0].Str == value
			}
			switch f.Get("Field").Str {
			case "eventCategory":
				data = hasValue("Data")
			case "resources.type":
				objects = hasValue(object)
			case "readOnly":
				read, write = hasValue("true"), hasValue("false")
			default:
				narrowed = true
			}
		}
		if data && objects && !narrowed {
			reads, writes = reads || read, writes || write
		}
	}
	return reads, writes
}

// awsMultiRegionTrails returns the trails that record all regions of the account: their ARNs,
// whether one belongs to another account, such as a trail of the organization, and what they
// currently record together. The member elsewhere says which trail delivers its events to another
// account; it is empty if none does. Multi-Region trails appear in the list of every region.
var awsMultiRegionTrails = resource.AnswerFunction{
	Calls: []string{"cloudtrail.DescribeTrails", "cloudtrail.GetTrailStatus", "cloudtrail.GetEventSelectors"},
	Apply: func(ctx context.Context, c resource.Caller) (gjson.Result, error) {
		listed, err := c.Call(ctx, resource.NewRequest("cloudtrail.DescribeTrails", `{includeShadowTrails: true}`), nil)
		if err != nil {
			return gjson.Result{}, err
		}
		account := string(c.Vars().Account)
		logs, foreign, reads, writes := false, false, false, false
		elsewhere := ""
		arns := []byte{'['}
		for _, t := range listed[0].Get("trailList").Array() {
			if !t.Get("IsMultiRegionTrail").Bool() {
				continue
			}
			arn := t.Get("TrailARN").Str
			owner, ok := resource.ParseARN(arn)
			if !ok {
				return gjson.Result{}, fmt.Errorf("CloudTrail lists the trail %s with the malformed ARN %q", t.Get("Name").Str, arn)
			}
			foreign = foreign || owner.Account != account
			receiver := owner // the account of the log group; that of the trail if no log group is listed
			if group := t.Get("CloudWatchLogsLogGroupArn").Str; group != "" {
				receiver, _ = resource.ParseARN(group)
			}
			if elsewhere == "" && receiver.Account != account {
				elsewhere = fmt.Sprintf("the trail %s delivers its events to account %s, whose log groups and alarms are not read here", arn, receiver.Account)
			}
			if len(arns) > 1 {
				arns = append(arns, ',')
			}
			arns = gjson.AppendJSONString(arns, arn)
			trail := &resource.Item{Result: t}
			status, err := c.Call(ctx, resource.NewRequest("cloudtrail.GetTrailStatus", `{Name: "${TrailARN}"}`), trail)
			if err != nil {
				return gjson.Result{}, err
			}
			events, err := c.Call(ctx, resource.NewRequest("cloudtrail.GetEventSelectors", `{TrailName: "${TrailARN}"}`), trail)
			if err != nil {
				return gjson.Result{}, err
			}
			if !status[0].Get("IsLogging").Bool() {
				continue
			}
			_, allManagement := selectedEvents(events[0])
			objectReads, objectWrites := selectedObjectEvents(events[0])
			logs = logs || allManagement
			reads = reads || objectReads
			writes = writes || objectWrites
		}
		return gjson.Parse(fmt.Sprintf(`{"trails":%s,"logs":%t,"foreign":%t,"objectReads":%t,"objectWrites":%t,"elsewhere":%s}`,
			append(arns, ']'), logs, foreign, reads, writes, gjson.AppendJSONString(nil, elsewhere))), nil
	},
}

// awsTrailLogs adds whether the alarms on the events of an account can be seen in the
// account. The log group of an organisation's trail is in another account.
var awsTrailLogs = resource.Function{
	Properties: []resource.Property{{Name: "trailLogsAreOwn", Kind: resource.Flag, Doc: "No multi-Region trail delivers its events to log groups of another account; unknown if one does, because alarms on them are not read."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if reason := in.Value.Get("elsewhere").Str; reason != "" {
			b.Properties = append(b.Properties, posture.Unknown("trailLogsAreOwn", reason))
			return nil
		}
		b.Flag("trailLogsAreOwn", true)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("trailLogsAreOwn", true) },
}

// awsRecordsAllTypes adds whether an active configuration recorder records all types. It uses
// the responses of the calls "recorders" and "status".
var awsRecordsAllTypes = resource.Function{
	Properties: []resource.Property{
		{Name: "allSupported", Kind: resource.Flag, Doc: "A configuration recorder that is recording records all supported resource types."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		all := false
		for _, r := range in.Value.Array() {
			recording := slices.ContainsFunc(in.Item.Answers["status"].Get("ConfigurationRecordersStatus").Array(), func(s gjson.Result) bool {
				return s.Get("name").Str == r.Get("name").Str && s.Get("recording").Bool()
			})
			all = all || recording && r.Get("recordingGroup.allSupported").Bool()
		}
		b.Flag("allSupported", all)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("allSupported", false) },
}

// awsEscapedPolicy is awsResourcePolicy for API Gateway, which escapes the quotation marks of
// policies twice.
var awsEscapedPolicy = resource.Function{
	Properties: awsResourcePolicy.Properties,
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putPolicy(b, strings.ReplaceAll(in.Value.String(), `\"`, `"`))
		return nil
	},
}

// bucketHost is the name of the host of a bucket: with or without a region, of its website
// (s3-website.REGION or s3-website-REGION), and of the old form (s3-REGION). The names of
// buckets may contain dots.
var bucketHost = regexp.MustCompile(`^(.+)\.s3([.-][a-z0-9.-]+)?\.amazonaws\.com(\.cn)?$`)

// awsBucketOrigins adds the S3 buckets among the origins of a distribution.
var awsBucketOrigins = resource.Function{
	Edges: []resource.Edge{{Label: "ORIGIN", To: resource.EntityTypes{"AWS.S3.Bucket"}, Doc: "The S3 buckets among its origins."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		for _, host := range in.Value.Get("#.DomainName").Array() {
			if found := bucketHost.FindStringSubmatch(host.Str); found != nil {
				b.Edge("ORIGIN", in.Cloud.Ref(in.Vars, []posture.EntityType{"AWS.S3.Bucket"}, found[1]))
			}
		}
		return nil
	},
}

// awsSubscriptionNames gives unique names to subscriptions of SNS topics: all unconfirmed ones
// have the same ARN.
var awsSubscriptionNames = resource.ListFunction{
	Apply: func(_ context.Context, _ resource.Caller, items []resource.Item) ([]resource.Item, error) {
		for i := range items {
			arn, topic := items[i].Get("SubscriptionArn").String(), items[i].Get("TopicArn").String()
			topic = topic[strings.LastIndex(topic, ":")+1:]
			name := topic + "/" + arn[strings.LastIndex(arn, ":")+1:]
			confirmed := strings.Contains(arn, ":") // otherwise the text is PendingConfirmation
			if !confirmed {
				name = topic + "/" + items[i].Get("Protocol").String() + "/" + items[i].Get("Endpoint").String()
			}
			member := gjson.AppendJSONString([]byte(`,"name":`), name)
			items[i].Result = withMembers(items[i].Result, fmt.Appendf(member, `,"confirmed":%t`, confirmed))
		}
		return items, nil
	},
}

// homeRegions are the regions of global resources by partition.
var homeRegions = map[string]string{"aws": "us-east-1", "aws-us-gov": "us-gov-west-1", "aws-cn": "cn-north-1"}

// awsWebACLScopes lists the scopes of AWS WAF in a region. The home region of the partition
// also has the web ACLs of CloudFront.
var awsWebACLScopes = resource.ListFunction{
	Apply: func(_ context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		scopes := []resource.Item{{Result: gjson.Parse(`{"Scope":"REGIONAL"}`)}}
		if v := c.Vars(); v.Region == homeRegions[cmp.Or(v.Partition, "aws")] {
			scopes = append(scopes, resource.Item{Result: gjson.Parse(`{"Scope":"CLOUDFRONT"}`)})
		}
		return scopes, nil
	},
}

// awsKafkaAccess adds whether clients of a provisioned MSK cluster need not authenticate: the cluster
// allows unauthenticated access, or has no method of authentication. Serverless clusters require IAM.
var awsKafkaAccess = resource.Function{
	Properties: []resource.Property{{Name: "unauthenticatedAccess", Kind: resource.Flag, Doc: "Clients need not authenticate: it is allowed, or no method of authentication is on."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		auth := in.Value.Get("ClientAuthentication")
		required := auth.Get("Sasl.Iam.Enabled").Bool() || auth.Get("Sasl.Scram.Enabled").Bool() || auth.Get("Tls.Enabled").Bool()
		b.Flag("unauthenticatedAccess", auth.Get("Unauthenticated.Enabled").Bool() || !required)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("unauthenticatedAccess", false) },
}

const awsEmailIdentity posture.EntityType = "AWS.SES.EmailIdentity"

// awsIdentityDomains adds the domain of an e-mail address and the domains that contain it. Amazon
// SES signs messages of an address with the DKIM keys of its domain or of a parent domain.
var awsIdentityDomains = resource.Function{
	Edges: []resource.Edge{{Label: "PART_OF", To: resource.EntityTypes{awsEmailIdentity}, Doc: "The identities of the domain of an e-mail address, and of its parent domains."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		_, domain, _ := strings.Cut(strings.ToLower(in.Name), "@")
		for strings.Contains(domain, ".") {
			b.Edge("PART_OF", in.Cloud.Ref(in.Vars, []posture.EntityType{awsEmailIdentity}, domain))
			_, domain, _ = strings.Cut(domain, ".")
		}
		return nil
	},
}
