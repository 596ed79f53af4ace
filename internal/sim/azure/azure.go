// Package azure simulates Azure: its directory, Resource Manager and Microsoft
// Graph, commercial and government, under their own host names.
//
// What there is follows from a seed, so that two runs agree and any number of
// subscriptions costs no memory. The findings that its faults ought to produce
// can be listed, and resources can be changed while it runs.
package azure

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// Options say what there is.
type Options struct {
	Seed          world.Seed
	Subscriptions int // in all. 1 when zero
	Government    int // how many of them, the last ones, are in the government cloud
	Size          int // about how many resources a subscription has. 200 when zero
	Users         int // in each directory. 40 when zero
	Page          int // resources on a page of a list. 100 when zero
	Shares        world.Shares

	// Today is the day the world is of: keys are old as seen from here. It does
	// not move, so that the same world read twice is the same.
	Today time.Time
	// Now is the clock that tokens end by. time.Now when nil.
	Now func() time.Time
}

// Cloud is a simulated Azure.
type Cloud struct {
	world.World

	options      Options
	faults       *gateway.Faults
	secret       []byte // signs tokens
	subs         map[string]Subscription
	order        []Subscription
	applications applications
}

// Hosts are the names the cloud answers for.
var Hosts = []string{
	"login.microsoftonline.com", "login.microsoft.com", "login.microsoftonline.us",
	"management.azure.com", "management.usgovcloudapi.net", "graph.microsoft.com", "graph.microsoft.us",
}

// A Subscription is one of those that there are.
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

// New returns a cloud whose calls go wrong where faults says so.
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
		o.Today = o.Now().UTC().Truncate(24 * time.Hour)
	}
	c := &Cloud{options: o, faults: faults, secret: []byte(rand.Text()), subs: map[string]Subscription{}}
	for i := range o.Subscriptions {
		s := Subscription{
			ID: o.Seed.With("subscription").UUID(i), Name: world.Of(o.Seed.With("name").Nth(i), "Payments", "Platform", "Analytics", "Retail", "Research") + " " + number(i),
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

// Subscriptions lists what there is, in order.
func (c *Cloud) Subscriptions() []Subscription { return c.order }

// Reader is an application that may read everything in the subscriptions of its
// directory.
func (c *Cloud) Reader(government bool) Credential { return c.application("reader", government) }

// Denied is an application that may sign in and nothing else.
func (c *Cloud) Denied(government bool) Credential { return c.application("denied", government) }

// Unconsented is an application that may read subscriptions, but not the
// directory.
func (c *Cloud) Unconsented(government bool) Credential {
	return c.application("unconsented", government)
}

func (c *Cloud) application(role string, government bool) Credential {
	seed := c.options.Seed.With("application").With(role)
	return Credential{Tenant: c.tenant(government), Application: seed.UUID(0), Key: "sim8Q~" + seed.With("key").Hex(34)}
}

// roleOf returns the role of an application and its key, or false when there is
// no such application.
func (c *Cloud) roleOf(application string, government bool) (role, key string, ok bool) {
	for _, role := range []string{"reader", "denied", "unconsented"} {
		if a := c.application(role, government); a.Application == application {
			return role, a.Key, true
		}
	}
	c.registered(application, func(a *registration) { key, ok = a.Key, a.Key != "" && a.Tenant == c.tenant(government) })
	return made, key, ok
}

// tenant returns the directory of a cloud.
func (c *Cloud) tenant(government bool) string {
	if government {
		return c.options.Seed.With("tenant").UUID(1)
	}
	return c.options.Seed.With("tenant").UUID(0)
}

// Access returns what the product needs to read a subscription.
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
