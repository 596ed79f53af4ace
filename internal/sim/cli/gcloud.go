package cli

import (
	"context"
	"encoding/base64"
	"os"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gcp"
)

var gcloudProgram = program{
	"services enable":                         {"", (*Server).enable},
	"projects describe":                       {"", (*Server).describeProject},
	"projects add-iam-policy-binding":         {"member role condition", (*Server).bind},
	"projects remove-iam-policy-binding":      {"member role condition", (*Server).unbind},
	"organizations add-iam-policy-binding":    {"member role condition", (*Server).bind},
	"organizations remove-iam-policy-binding": {"member role condition", (*Server).unbind},

	"iam roles describe":                          {"", (*Server).describeRole},
	"iam roles create":                            {"file", (*Server).putRole},
	"iam roles update":                            {"file", (*Server).putRole},
	"iam roles delete":                            {"", removeResource("role")},
	"iam service-accounts describe":               {"", describeResource("account")},
	"iam service-accounts create":                 {"display-name", (*Server).createAccount},
	"iam service-accounts delete":                 {"", (*Server).deleteAccount},
	"iam service-accounts keys create":            {"iam-account", (*Server).createKey},
	"iam service-accounts add-iam-policy-binding": {"member role", (*Server).bindAccount},

	"pubsub topics describe":               {"", describeResource("topic")},
	"pubsub topics create":                 {"labels", createResource("topic")},
	"pubsub topics delete":                 {"", removeResource("topic")},
	"pubsub topics publish":                {"message attribute", (*Server).publish},
	"pubsub topics add-iam-policy-binding": {"member role", (*Server).bindTopic},
	"pubsub subscriptions describe":        {"", describeResource("subscription")},
	"pubsub subscriptions create":          {"topic push-endpoint push-auth-service-account push-auth-token-audience ack-deadline expiration-period min-retry-delay max-retry-delay labels", (*Server).putSubscription},
	"pubsub subscriptions update":          {"push-endpoint push-auth-service-account push-auth-token-audience", (*Server).putSubscription},
	"pubsub subscriptions delete":          {"", removeResource("subscription")},
	"logging sinks describe":               {"", describeResource("sink")},
	"logging sinks create":                 {"log-filter", (*Server).putSink},
	"logging sinks update":                 {"log-filter", (*Server).putSink},
	"logging sinks delete":                 {"", removeResource("sink")},
}

// pathOf returns the path of an object of a project.
func (c Call) pathOf(kind string) string {
	return "gcp/" + c.one("project") + "/" + kind + "/" + c.Words[0]
}

// createResource, describeResource and removeResource return commands that create,
// describe and delete objects.
func createResource(kind string) func(*Server, context.Context, Call) (string, error) {
	return func(d *Server, _ context.Context, c Call) (string, error) {
		if _, ok := d.get(c.pathOf(kind), ""); ok {
			return "", refuse("ERROR: (gcloud) Resource already exists in the project")
		}
		d.put(c.pathOf(kind))
		return "", nil
	}
}

func describeResource(kind string) func(*Server, context.Context, Call) (string, error) {
	return func(d *Server, _ context.Context, c Call) (string, error) {
		name := strings.TrimSuffix(strings.TrimPrefix(c.one("format"), "value("), ")")
		text, ok := d.get(c.pathOf(kind), name)
		if !ok {
			return "", refuse("ERROR: (gcloud) NOT_FOUND: Resource not found (resource=%s).", c.Words[0])
		}
		return text, nil
	}
}

func removeResource(kind string) func(*Server, context.Context, Call) (string, error) {
	return func(d *Server, _ context.Context, c Call) (string, error) {
		if !d.drop(c.pathOf(kind)) {
			return "", refuse("ERROR: (gcloud) NOT_FOUND: Resource not found (resource=%s).", c.Words[0])
		}
		return "", nil
	}
}

func (s *Server) enable(_ context.Context, c Call) (string, error) {
	for _, name := range c.Words {
		if !strings.HasSuffix(name, ".googleapis.com") {
			return "", refuse("ERROR: (gcloud.services.enable) %s is not a service", name)
		}
	}
	return "", nil // enabled services are not tracked
}

func (s *Server) describeProject(_ context.Context, c Call) (string, error) {
	for _, p := range s.o.GCP.Projects() {
		if p.ID == c.Words[0] && c.one("format") == "value(projectNumber)" {
			return p.Number, nil
		}
	}
	return "", refuse("ERROR: (gcloud.projects.describe) [%s] not found", c.Words[0])
}

func (s *Server) describeRole(_ context.Context, c Call) (string, error) {
	if _, ok := s.get(c.pathOf("role"), ""); !ok {
		return "", refuse("ERROR: (gcloud.iam.roles.describe) NOT_FOUND: The role named %s was not found.", c.Words[0])
	}
	return "", nil
}

func (s *Server) putRole(_ context.Context, c Call) (string, error) {
	text, err := os.ReadFile(c.one("file")) // #nosec G304 -- the script wrote it
	if err != nil {
		return "", err
	}
	_, list, ok := strings.Cut(string(text), "includedPermissions:\n")
	if !ok {
		return "", refuse("ERROR: (gcloud.iam.roles) the file has no permissions")
	}
	s.put(c.pathOf("role"), "permissions", strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(list), "- ", ""), "\n", " "))
	return "", nil
}

// reader returns the name of a service account from its email.
func reader(email string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(email, "serviceAccount:"), "@")
	return name
}

// organizationRoles are predefined roles on the organisation, with the
// permissions that they add.
var organizationRoles = map[string][]string{
	"roles/iam.securityReviewer": {"resourcemanager.folders.getIamPolicy", "resourcemanager.organizations.getIamPolicy", "iam.denypolicies.list"},
	"roles/iam.denyReviewer":     {"iam.denypolicies.list", "iam.denypolicies.get"},
}

// bind binds a service account to a role. The binding of the custom role, which the scripts
// make last, grants its permissions and those of the bound organizationRoles.
func (s *Server) bind(_ context.Context, c Call) (string, error) {
	project, role, custom := strings.Cut(strings.TrimPrefix(c.one("role"), "projects/"), "/roles/")
	permissions, known := s.get("gcp/"+project+"/role/"+role, "permissions")
	if custom && (!known || project != c.Words[0]) || c.one("condition") != "None" {
		return "", refuse("ERROR: (gcloud) INVALID_ARGUMENT: Role %s does not exist", c.one("role"))
	}
	s.put("gcp/binding/" + c.Words[0] + " " + c.one("role") + " " + c.one("member"))
	if custom {
		granted := strings.Fields(permissions)
		for role, more := range organizationRoles {
			if _, bound := s.get("gcp/binding/"+gcp.Organization+" "+role+" "+c.one("member"), ""); bound {
				granted = append(granted, more...)
			}
		}
		s.o.GCP.Limited(reader(c.one("member")), granted...)
	}
	return "", nil
}

func (s *Server) unbind(_ context.Context, c Call) (string, error) {
	if !s.drop("gcp/binding/" + c.Words[0] + " " + c.one("role") + " " + c.one("member")) {
		return "", refuse("ERROR: (gcloud) Policy binding with the specified principal, role, and condition not found!")
	}
	return "", nil
}

func (s *Server) createAccount(_ context.Context, c Call) (string, error) {
	email := c.Words[0] + "@" + c.one("project") + ".iam.gserviceaccount.com"
	s.put("gcp/" + c.one("project") + "/account/" + email)
	return "", nil
}

func (s *Server) deleteAccount(ctx context.Context, c Call) (string, error) {
	s.o.GCP.DeleteAccount(c.Words[0])
	return removeResource("account")(s, ctx, c)
}

// createKey writes a new key of a service account.
func (s *Server) createKey(_ context.Context, c Call) (string, error) {
	email := c.one("iam-account")
	if _, ok := s.get("gcp/"+c.one("project")+"/account/"+email, ""); !ok {
		return "", refuse("ERROR: (gcloud.iam.service-accounts.keys.create) NOT_FOUND: Unknown service account")
	}
	key := s.o.GCP.NewKey(reader(email))
	if key.Email != email {
		return "", refuse("the simulated cloud has its service accounts in the first project")
	}
	text, err := base64.StdEncoding.DecodeString(key.Key)
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(c.Words[0], text, 0o600)
}

func (s *Server) bindAccount(_ context.Context, c Call) (string, error) {
	s.put(c.pathOf("account"), c.one("role"), c.one("member"))
	return "", nil
}

func (s *Server) bindTopic(_ context.Context, c Call) (string, error) {
	if _, ok := s.get(c.pathOf("topic"), ""); !ok {
		return "", refuse("ERROR: (gcloud) NOT_FOUND: Resource not found")
	}
	s.put(c.pathOf("topic"), c.one("role"), c.one("member"))
	return "", nil
}

func (s *Server) putSink(_ context.Context, c Call) (string, error) {
	// The scripts give a sink the name of its topic.
	if len(c.Words) != 2 || c.Words[1] != "pubsub.googleapis.com/projects/"+c.one("project")+"/topics/"+c.Words[0] {
		return "", refuse("ERROR: (gcloud.logging.sinks) a sink needs a destination")
	}
	s.put(c.pathOf("sink"), "writerIdentity", "serviceAccount:service-1@gcp-sa-logging.iam.gserviceaccount.com")
	return "", nil
}

func (s *Server) putSubscription(_ context.Context, c Call) (string, error) {
	if c.one("push-auth-token-audience") != c.one("push-endpoint") {
		return "", refuse("ERROR: (gcloud.pubsub.subscriptions) tokens for %s", c.one("push-auth-token-audience"))
	}
	topic := c.one("topic")
	if topic == "" {
		topic, _ = s.get(c.pathOf("subscription"), "topic")
	}
	s.put(c.pathOf("subscription"), "topic", topic, "endpoint", c.one("push-endpoint"), "account", c.one("push-auth-service-account"))
	return "", nil
}

// publish makes the publisher push the message, and all later changes, to the
// subscription of the topic.
func (s *Server) publish(ctx context.Context, c Call) (string, error) {
	if c.one("attribute") != "eventStreamStatus=connected" {
		return "", refuse("unexpected attribute %s", c.one("attribute"))
	}
	all := s.withPrefix("gcp/" + c.one("project") + "/subscription/")
	i := slices.IndexFunc(all, func(path string) bool {
		topic, _ := s.get(path, "topic")
		return topic == c.Words[0]
	})
	publisher, _ := s.get("gcp/"+c.one("project")+"/topic/"+c.Words[0], "roles/pubsub.publisher")
	if i < 0 || publisher == "" {
		return "", nil // no subscription, or the topic has no publisher
	}
	endpoint, _ := s.get(all[i], "endpoint")
	account, _ := s.get(all[i], "account")
	if signer, _ := s.get("gcp/"+c.one("project")+"/account/"+account, "roles/iam.serviceAccountTokenCreator"); signer == "" {
		return "", nil // nobody may create tokens for the push requests
	}
	return "", s.o.Publisher.Subscribe(ctx, events.Stream{
		Provider: posture.GCP, Account: c.one("project"), Endpoint: endpoint, Topic: c.Words[0], Subscription: last(all[i], "/"), ServiceAccount: account,
	})
}
