package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/aws"
	"vigil/internal/sim/events"
)

var awsProgram = program{
	"sts get-caller-identity": {"", (*Server).callerIdentity},
	"sts assume-role":         {"role-arn role-session-name", (*Server).assumeRole},
	"ec2 describe-regions": {"", func(d *Server, _ context.Context, c Call) (string, error) {
		return c.answer(map[string]string{"Regions[].RegionName": "us-east-1\teu-west-1"})
	}},
	"cloudtrail describe-trails": {"", func(d *Server, _ context.Context, c Call) (string, error) {
		return "arn:aws:cloudtrail:us-east-1:" + d.account(c) + ":trail/all\tus-east-1", nil
	}},
	"cloudtrail get-trail-status":         {"name", func(*Server, context.Context, Call) (string, error) { return "True", nil }},
	"organizations describe-organization": {"", func(d *Server, _ context.Context, c Call) (string, error) { return d.o.AWS.Account(0).ID, nil }},
	"organizations list-accounts":         {"", (*Server).listAccounts},
	"sns create-topic": {"name tags", func(d *Server, _ context.Context, c Call) (string, error) {
		d.put(d.pathOf(c, "topic", c.one("name")))
		return "", nil
	}},
	"sns set-topic-attributes":        {"topic-arn attribute-name attribute-value", (*Server).setTopic},
	"sns subscribe":                   {"topic-arn protocol notification-endpoint", (*Server).subscribe},
	"sns delete-topic":                {"topic-arn", (*Server).deleteTopic},
	"events put-rule":                 {"name event-pattern schedule-expression tags", (*Server).putRule},
	"events put-targets":              {"rule targets", (*Server).putTargets},
	"events remove-targets":           {"rule ids", (*Server).removeTargets},
	"events delete-rule":              {"name", (*Server).deleteRule},
	"events create-connection":        {"cli-input-json", (*Server).putConnection},
	"events update-connection":        {"cli-input-json", (*Server).putConnection},
	"events describe-connection":      {"name", describe("connection")},
	"events delete-connection":        {"name", remove("connection")},
	"events create-api-destination":   {"cli-input-json", (*Server).putDestination},
	"events update-api-destination":   {"cli-input-json", (*Server).putDestination},
	"events describe-api-destination": {"name", describe("api-destination")},
	"events delete-api-destination":   {"name", remove("api-destination")},
	"iam create-role":                 {"role-name description assume-role-policy-document tags", (*Server).createRole},
	"iam get-role":                    {"role-name", (*Server).getRole},
	"iam update-assume-role-policy":   {"role-name policy-document", (*Server).trustRole},
	"iam put-role-policy":             {"role-name policy-name policy-document", (*Server).putRolePolicy},
	"iam get-role-policy":             {"role-name policy-name", (*Server).getRolePolicy},
	"iam delete-role-policy":          {"role-name policy-name", (*Server).deleteRolePolicy},
	"iam list-policies":               {"scope", (*Server).listPolicies},
	"iam create-policy":               {"policy-name description policy-document tags", (*Server).createPolicy},
	"iam get-policy":                  {"policy-arn", (*Server).getPolicy},
	"iam delete-policy":               {"policy-arn", (*Server).deletePolicy},
	"iam get-policy-version":          {"policy-arn version-id", (*Server).getPolicyVersion},
	"iam list-policy-versions":        {"policy-arn", (*Server).listPolicyVersions},
	"iam create-policy-version":       {"policy-arn policy-document set-as-default", (*Server).createPolicyVersion},
	"iam delete-policy-version":       {"policy-arn version-id", (*Server).deletePolicyVersion},
	"iam attach-role-policy":          {"role-name policy-arn", (*Server).attachPolicy},
	"iam detach-role-policy":          {"role-name policy-arn", (*Server).detachPolicy},
	"iam delete-role":                 {"role-name", (*Server).deleteRole},
	"cloudformation deploy":           {"stack-name template-file no-fail-on-empty-changeset capabilities parameter-overrides tags", (*Server).deployStack},
	"cloudformation describe-stacks":  {"stack-name", (*Server).describeStack},
	"cloudformation delete-stack":     {"stack-name", (*Server).deleteStack},
}

// account returns the account of a call's credentials: that of a session, or
// the first account.
func (s *Server) account(c Call) string {
	if id, ok := strings.CutPrefix(c.Session, "session-"); ok {
		return id
	}
	return s.o.AWS.Account(0).ID
}

// pathOf returns the path of an AWS object.
func (s *Server) pathOf(c Call, kind, name string) string {
	return "aws/" + s.account(c) + "/" + c.one("region") + "/" + kind + "/" + name
}

func (s *Server) callerIdentity(_ context.Context, c Call) (string, error) {
	id := s.account(c)
	return c.answer(map[string]string{"[Account,Arn]": id + "\tarn:aws:iam::" + id + ":user/admin"})
}

func (s *Server) assumeRole(_ context.Context, c Call) (string, error) {
	parts := strings.Split(c.one("role-arn"), ":")
	// The caller manages one account in addition to its own.
	if len(parts) != 6 || parts[4] != s.o.AWS.Account(1).ID || parts[5] != "role/OrganizationAccountAccessRole" || c.Session != "" {
		return "", refuse("An error occurred (AccessDenied) when calling the AssumeRole operation")
	}
	return c.answer(map[string]string{"Credentials.[AccessKeyId,SecretAccessKey,SessionToken]": "ASIAX\tsecret\tsession-" + parts[4]})
}

func (s *Server) listAccounts(_ context.Context, c Call) (string, error) {
	return c.answer(map[string]string{"Accounts[?Status=='ACTIVE'].Id": s.o.AWS.Account(0).ID + "\t" + s.o.AWS.Account(1).ID})
}

func (s *Server) setTopic(_ context.Context, c Call) (string, error) {
	path := s.pathOf(c, "topic", last(c.one("topic-arn"), ":"))
	if _, ok := s.get(path, ""); !ok {
		return "", refuse("An error occurred (NotFound) when calling the SetTopicAttributes operation: Topic does not exist")
	}
	value := c.one("attribute-value")
	if c.one("attribute-name") == "Policy" && (!json.Valid([]byte(value)) || !strings.Contains(value, `"aws:SourceArn"`)) {
		return "", refuse("An error occurred (InvalidParameter): Policy")
	}
	s.put(path, c.one("attribute-name"), value)
	return "", nil
}

// subscribe makes the publisher confirm the subscription and send changes from then on.
// The publisher confirms the topic in us-east-1, in whatever region the call is.
func (s *Server) subscribe(ctx context.Context, c Call) (string, error) {
	name := last(c.one("topic-arn"), ":")
	path := s.pathOf(c, "topic", name)
	version, _ := s.get(path, "SignatureVersion")
	if policy, ok := s.get(path, "Policy"); !ok || policy == "" || version != "2" {
		return "", refuse("An error occurred (NotFound) when calling the Subscribe operation: Topic does not exist, or is not safe")
	}
	if old, _ := s.get(path, "endpoint"); old == c.one("notification-endpoint") {
		return "", nil // already subscribed
	}
	s.put(path, "endpoint", c.one("notification-endpoint"))
	return "", s.o.Publisher.Subscribe(ctx, events.Stream{Provider: posture.AWS, Account: s.account(c), Endpoint: c.one("notification-endpoint"), Topic: name})
}

func (s *Server) deleteTopic(_ context.Context, c Call) (string, error) {
	s.drop(s.pathOf(c, "topic", last(c.one("topic-arn"), ":"))) // SNS does not report a missing topic
	return "", nil
}

func (s *Server) putRule(_ context.Context, c Call) (string, error) {
	if text := c.one("event-pattern"); text != "" && !json.Valid([]byte(text)) {
		return "", refuse("An error occurred (InvalidEventPatternException)")
	}
	// A rule has one of the two.
	s.put(s.pathOf(c, "rule", c.one("name")), "pattern", c.one("event-pattern")+c.one("schedule-expression"))
	return "", nil
}

func (s *Server) putTargets(_ context.Context, c Call) (string, error) {
	path := s.pathOf(c, "rule", c.one("rule"))
	if _, ok := s.get(path, ""); !ok || !strings.Contains(c.one("targets"), "Arn=arn:") {
		return "", refuse("An error occurred (ResourceNotFoundException) when calling the PutTargets operation")
	}
	s.put(path, "targets", c.one("targets"))
	return "", nil
}

func (s *Server) removeTargets(_ context.Context, c Call) (string, error) {
	path := s.pathOf(c, "rule", c.one("rule"))
	if _, ok := s.get(path, ""); !ok {
		return "", refuse("An error occurred (ResourceNotFoundException) when calling the RemoveTargets operation: Rule does not exist.")
	}
	s.put(path, "targets", "")
	return "", nil
}

func (s *Server) deleteRule(_ context.Context, c Call) (string, error) {
	path := s.pathOf(c, "rule", c.one("name"))
	if targets, _ := s.get(path, "targets"); targets != "" {
		return "", refuse("An error occurred (ValidationException) when calling the DeleteRule operation: Rule can't be deleted since it has targets.")
	}
	s.drop(path)
	return "", nil
}

func (s *Server) putConnection(_ context.Context, c Call) (string, error) {
	var in struct {
		Name           string
		AuthParameters struct {
			ApiKeyAuthParameters struct{ ApiKeyName, ApiKeyValue string }
		}
	}
	if err := readInput(c, &in); err != nil {
		return "", err
	}
	if in.AuthParameters.ApiKeyAuthParameters.ApiKeyValue == "" {
		return "", refuse("An error occurred (ValidationException): the connection has no key")
	}
	s.put(s.pathOf(c, "connection", in.Name), "ConnectionArn", "arn:aws:events:"+c.one("region")+":"+s.account(c)+":connection/"+in.Name+"/1", "header", in.AuthParameters.ApiKeyAuthParameters.ApiKeyName)
	return "", nil
}

func (s *Server) putDestination(_ context.Context, c Call) (string, error) {
	var in struct{ Name, ConnectionArn, InvocationEndpoint, HttpMethod string }
	if err := readInput(c, &in); err != nil {
		return "", err
	}
	if in.HttpMethod != "POST" {
		return "", refuse("An error occurred (ValidationException): events are posted")
	}
	// The scripts give a destination the name of its connection.
	if arn, _ := s.get(s.pathOf(c, "connection", in.Name), "ConnectionArn"); arn == "" || arn != in.ConnectionArn {
		return "", refuse("An error occurred (ResourceNotFoundException): Connection does not exist")
	}
	s.put(s.pathOf(c, "api-destination", in.Name), "ApiDestinationArn", "arn:aws:events:"+c.one("region")+":"+s.account(c)+":api-destination/"+in.Name+"/1", "url", in.InvocationEndpoint)
	return "", nil
}

// readInput reads the parameters of a call from the file in its options.
func readInput(c Call, in any) error {
	return readJSON(strings.TrimPrefix(c.one("cli-input-json"), "file://"), in)
}

// describe returns a command that describes an EventBridge object. It returns the
// value that has the query as its name.
func describe(kind string) func(*Server, context.Context, Call) (string, error) {
	return func(d *Server, _ context.Context, c Call) (string, error) {
		text, ok := d.get(d.pathOf(c, kind, c.one("name")), c.one("query"))
		if !ok {
			return "", refuse("An error occurred (ResourceNotFoundException)")
		}
		return text, nil
	}
}

// remove returns a command that removes an EventBridge object.
func remove(kind string) func(*Server, context.Context, Call) (string, error) {
	return func(d *Server, _ context.Context, c Call) (string, error) {
		if !d.drop(d.pathOf(c, kind, c.one("name"))) {
			return "", refuse("An error occurred (ResourceNotFoundException)")
		}
		return "", nil
	}
}

func last(text, separator string) string { return text[strings.LastIndex(text, separator)+1:] }

var (
	externalID = regexp.MustCompile(`"sts:ExternalId":"([^"]+)"`)
	trusts     = regexp.MustCompile(`"AWS":"([^"]+)"`)
)

func (s *Server) rolePath(c Call) string {
	return "aws/" + s.account(c) + "//role/" + c.one("role-name")
}

func (s *Server) createRole(_ context.Context, c Call) (string, error) {
	if _, ok := s.get(s.rolePath(c), ""); ok {
		return "", refuse("An error occurred (EntityAlreadyExists) when calling the CreateRole operation")
	}
	s.trust(c, c.one("role-name"), c.one("assume-role-policy-document"))
	return "", nil
}

// trust sets the trust policy of a role. If the role is new, trust adds it to the simulated
// cloud, without permissions.
func (s *Server) trust(c Call, name, document string) {
	s.put("aws/"+s.account(c)+"//role/"+name, "trust", document)
	r, _ := s.o.AWS.Role(s.account(c), name)
	r.Account, r.Name, r.ExternalID, r.Trusts = s.account(c), name, "", "" // the document replaces the old one
	if found := externalID.FindStringSubmatch(document); found != nil {
		r.ExternalID = found[1]
	}
	if found := trusts.FindStringSubmatch(document); found != nil {
		r.Trusts = found[1]
	}
	s.o.AWS.PutRole(r)
}

func (s *Server) getRole(_ context.Context, c Call) (string, error) {
	document, ok := s.get(s.rolePath(c), "trust")
	if !ok {
		return "", refuse("An error occurred (NoSuchEntity) when calling the GetRole operation: The role with name %s cannot be found.", c.one("role-name"))
	}
	external := "None" // as aws prints null
	if found := externalID.FindStringSubmatch(document); found != nil {
		external = found[1]
	}
	return c.answer(map[string]string{`Role.AssumeRolePolicyDocument.Statement[0].Condition.StringEquals."sts:ExternalId"`: external})
}

func (s *Server) trustRole(_ context.Context, c Call) (string, error) {
	if _, ok := s.get(s.rolePath(c), ""); !ok {
		return "", refuse("An error occurred (NoSuchEntity)")
	}
	s.trust(c, c.one("role-name"), c.one("policy-document"))
	return "", nil
}

func (s *Server) deleteRole(_ context.Context, c Call) (string, error) {
	inline, _ := s.get(s.rolePath(c), "inline")
	if attached, _ := s.get(s.rolePath(c), "attached"); inline+attached != "" {
		return "", refuse("An error occurred (DeleteConflict): Cannot delete entity, must delete policies first.")
	}
	if !s.drop(s.rolePath(c)) {
		return "", refuse("An error occurred (NoSuchEntity)")
	}
	s.o.AWS.DropRole(s.account(c), c.one("role-name"))
	return "", nil
}

var policyLine = regexp.MustCompile(`(?m)^ *PolicyDocument: (\{"Version.*)$`)

// deployStack applies the effects of the product's two templates.
func (s *Server) deployStack(ctx context.Context, c Call) (string, error) {
	text, err := os.ReadFile(c.one("template-file")) // #nosec G304 -- the script wrote it
	if err != nil {
		return "", err
	}
	parameters := map[string]string{}
	for _, pair := range c.Options["parameter-overrides"] {
		name, value, _ := strings.Cut(pair, "=")
		parameters[name] = value
	}
	path := s.pathOf(c, "stack", c.one("stack-name"))
	_, exists := s.get(path, "")
	s.put(path, "parameters", strings.Join(c.Options["parameter-overrides"], ","))
	if strings.Contains(string(text), "AWS::SNS::Subscription") { // the template of event streams, else that of the role
		// The stack of one region has the heartbeat. Its first deployment starts the stream of the account.
		if exists || parameters["Heartbeat"] != "true" {
			return "", nil
		}
		return "", s.o.Publisher.Subscribe(ctx, events.Stream{Provider: posture.AWS, Account: s.account(c), Endpoint: parameters["Endpoint"], Topic: parameters["TopicName"]})
	}
	found := policyLine.FindAllStringSubmatch(string(text), -1)
	if found == nil || !slices.Contains(c.Options["capabilities"], "CAPABILITY_NAMED_IAM") {
		return "", refuse("An error occurred (InsufficientCapabilitiesException)")
	}
	role := "aws/" + s.account(c) + "//role/" + parameters["RoleName"]
	s.o.AWS.PutRole(aws.Role{Account: s.account(c), Name: parameters["RoleName"], Trusts: parameters["TrustedPrincipal"], ExternalID: parameters["ExternalId"]})
	s.put(role, "trust", `"sts:ExternalId":"`+parameters["ExternalId"]+`"`, "stack", c.one("stack-name"), "attached", "")
	for i, document := range found {
		if _, err := readPolicy(document[1], maxManaged); err != nil {
			return "", err
		}
		arn := fmt.Sprintf("arn:aws:iam::%s:policy/%s-%d", s.account(c), parameters["RoleName"], i+1)
		s.put(s.policyPath(c, arn), "v1", document[1], "default", "v1", "stack", c.one("stack-name"))
		if err := s.attach(c, role, arn); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (s *Server) describeStack(_ context.Context, c Call) (string, error) {
	if _, ok := s.get(s.pathOf(c, "stack", c.one("stack-name")), ""); !ok {
		return "", refuse("An error occurred (ValidationError): Stack with id %s does not exist", c.one("stack-name"))
	}
	return "", nil
}

func (s *Server) deleteStack(_ context.Context, c Call) (string, error) {
	s.drop(s.pathOf(c, "stack", c.one("stack-name")))
	for _, path := range s.withPrefix("aws/" + s.account(c) + "//") {
		if stack, _ := s.get(path, "stack"); stack == c.one("stack-name") {
			s.drop(path)
			if strings.Contains(path, "//role/") {
				s.o.AWS.DropRole(s.account(c), last(path, "/"))
			}
		}
	}
	return "", nil
}
