// Package azure simulates Azure: its directory, Resource Manager and Microsoft
// Graph, commercial and government, under the real host names.
//
// The resources are generated from a seed, so that runs are repeatable and any
// number of subscriptions needs no memory. The cloud computes the findings that
// the built-in rules must report, and resources can be changed while it runs.
package azure

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// Options configure the simulated cloud.
type Options struct {
	Seed          world.Seed
	Subscriptions int // number of subscriptions; 1 when zero
	Government    int // how many of them, the last ones, are in the government cloud
	Size          int // approximate number of resources of a subscription; 200 when zero
	Users         int // users of each directory; 40 when zero
	Page          int // page size of lists; 100 when zero
	Shares        world.Shares

	// Unsimulated, if set, answers reads of what the cloud does not simulate. The account
	// is a subscription, or "" for Microsoft Graph. If Unsimulated reports false, the cloud
	// answers that the resource does not exist.
	Unsimulated func(w http.ResponseWriter, r *http.Request, account string) bool

	// Today is the reference time of ages: keys are old relative to it. It does not
	// advance, so that the same cloud read twice is the same. When zero, it is the time
	// of New.
	Today time.Time
	// Now is the clock for the expiry of tokens; time.Now when nil.
	Now func() time.Time
}

// Cloud is a simulated Azure.
type Cloud struct {
	world.World

	options      Options
	faults       *gateway.Faults
	secret       []byte // key of the signatures of tokens
	subs         map[string]Subscription
	order        []Subscription
	applications applications
}

// Hosts are the host names that the cloud serves.
var Hosts = []string{
	"login.microsoftonline.com", "login.microsoft.com", "login.microsoftonline.us",
	"management.azure.com", "management.usgovcloudapi.net", "graph.microsoft.com", "graph.microsoft.us",
}

// A Subscription is a simulated subscription.
type Subscription struct {
	ID         string
	Name       string
	Tenant     string
	Government bool
	number     int
}

// A Credential is an application that may sign in.
type Credential struct {
	Tenant      string
	Application string
	Key         string
}

// New returns a cloud. Faults determines which calls fail.
func New(o Options, faults *gateway.Faults) *Cloud {
	if o.Subscriptions == 0 {
		o.Subscriptions = 1
	}
	if o.Size == 0 {
		o.Size = 200
	}
	if o.Users == 0 {
		o.Users = 40
	}
	if o.Page == 0 {
		o.Page = 100
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Today.IsZero() {
		o.Today = o.Now().UTC().Truncate(time.Second)
	}
	c := &Cloud{options: o, faults: faults, secret: []byte(rand.Text()), subs: map[string]Subscription{}}
	for i := range o.Subscriptions {
		s := Subscription{
			ID: o.Seed.With("subscription").UUID(i), Name: world.PickOne(o.Seed.With("name").Nth(i), "Payments", "Platform", "Analytics", "Retail", "Research") + " " + number(i),
			Government: i >= o.Subscriptions-o.Government, number: i,
		}
		s.Tenant = c.tenant(s.Government)
		c.subs[s.ID] = s
		c.order = append(c.order, s)
	}
	return c
}

// ServeHTTP implements [http.Handler].
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(strings.ToLower(r.Host), ":")
	government := strings.HasSuffix(host, ".us") || strings.HasSuffix(host, ".usgovcloudapi.net")
	switch service, _, _ := strings.Cut(host, "."); service {
	case "login":
		c.login(w, r, government)
	case "graph":
		c.graph(w, r, government)
	default:
		c.manager(w, r, government)
	}
}

// answerUnsimulated answers a read of what the cloud does not simulate. It reports whether
// it could.
func (c *Cloud) answerUnsimulated(w http.ResponseWriter, r *http.Request, account string) bool {
	return c.options.Unsimulated != nil && c.options.Unsimulated(w, r, account)
}

// Subscriptions returns the subscriptions in order.
func (c *Cloud) Subscriptions() []Subscription { return c.order }

// PublicCloud is the argument of Reader, Denied, Unconsented and Register for an application that
// is not in the government cloud.
const PublicCloud = false

// Reader returns an application that may read everything in the subscriptions
// of its directory.
func (c *Cloud) Reader(government bool) Credential { return c.application("reader", government) }

// Denied returns an application that may sign in and nothing else.
func (c *Cloud) Denied(government bool) Credential { return c.application("denied", government) }

// Unconsented returns an application that may read subscriptions, but not the
// directory.
func (c *Cloud) Unconsented(government bool) Credential {
	return c.application("unconsented", government)
}

func (c *Cloud) application(role string, government bool) Credential {
	seed := c.options.Seed.With("application").With(role)
	return Credential{Tenant: c.tenant(government), Application: seed.UUID(0), Key: "sim8Q~" + seed.With("key").Hex(34)}
}

// roleOf returns the role of an application and its keys, or false for an
// unknown application.
func (c *Cloud) roleOf(application string, government bool) (role string, keys []string, ok bool) {
	for _, role := range []string{"reader", "denied", "unconsented"} {
		if a := c.application(role, government); a.Application == application {
			return role, []string{a.Key}, true
		}
	}
	c.withRegistration(application, func(a *registration) {
		keys = slices.Clone(a.keys)
		ok = len(keys) > 0 && a.Tenant == c.tenant(government)
	})
	return registeredRole, keys, ok
}

// tenant returns the directory of a cloud.
func (c *Cloud) tenant(government bool) string {
	if government {
		return c.options.Seed.With("tenant").UUID(1)
	}
	return c.options.Seed.With("tenant").UUID(0)
}

// Access returns the product's access data for a subscription.
func (s Subscription) Access(org posture.OrgID, c Credential) posture.Access {
	kind := "Commercial"
	if s.Government {
		kind = "Government"
	}
	return posture.Access{
		Org:     org,
		Account: posture.Account{ID: posture.AccountID(s.ID), Provider: posture.Azure, Name: s.Name, Properties: []posture.Property{posture.Text("AccountType", kind)}},
		Credential: posture.Credential{Provider: posture.Azure, Properties: []posture.Property{
			posture.Text(posture.PropApplicationID, c.Application), posture.Text(posture.PropDirectoryID, c.Tenant),
		}},
		Secrets: posture.Secrets{posture.PropApplicationKey: c.Key},
	}
}
