// Package gcp simulates Google Cloud: its token endpoint and the APIs of its
// services under the real host names.
//
// The resources are generated from a seed, so that runs are repeatable and any
// number of projects needs no memory. The cloud computes the findings that the
// built-in rules must report, and resources can be changed while it runs.
package gcp

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// Options configure the simulated cloud.
type Options struct {
	Seed     world.Seed
	Projects int // 1 when zero
	Size     int // approximate number of resources of a project; 200 when zero
	Page     int // maximum page size of lists; as requested when zero
	Shares   world.Shares

	// Unsimulated, if set, answers calls that the cloud does not simulate, and calls about
	// resources that it does not have. It reports false when it has no answer.
	Unsimulated func(w http.ResponseWriter, r *http.Request, project Project) bool

	// Today is the reference time of ages: keys are old relative to it. It does not
	// advance, so that the same cloud read twice is the same. When zero, it is the time
	// of New.
	Today time.Time
	// Now is the clock for the expiry of tokens; time.Now when nil.
	Now func() time.Time
}

// Cloud is a simulated Google Cloud. It is an http.Handler for Hosts.
type Cloud struct {
	world.World

	options  Options
	faults   *gateway.Faults
	secret   []byte // key of the signatures of tokens
	projects map[string]Project
	order    []Project

	mu       sync.Mutex
	accounts map[string]*account // service accounts that may sign in, by email
}

// Hosts are the host names that the cloud serves.
var Hosts = []string{".googleapis.com"}

// A Project is a simulated project.
type Project struct {
	ID     string
	Number string
	Name   string
	number int
}

// New returns a cloud. Faults determines which calls fail.
func New(o Options, faults *gateway.Faults) *Cloud {
	if o.Projects == 0 {
		o.Projects = 1
	}
	if o.Size == 0 {
		o.Size = 200
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Today.IsZero() {
		o.Today = o.Now().UTC().Truncate(time.Second)
	}
	c := &Cloud{options: o, faults: faults, secret: []byte(rand.Text()), projects: map[string]Project{}, accounts: map[string]*account{}}
	for i := range o.Projects {
		seed := o.Seed.With("project").Nth(i)
		name := world.PickOne(seed, "payments", "platform", "analytics", "retail", "research")
		p := Project{
			ID: fmt.Sprintf("%s-%03d-%s", name, i, seed.Hex(4)), Number: fmt.Sprint(100_000_000_000 + int64(i)*1_000_003 + int64(seed.Intn(1_000_000))),
			Name: fmt.Sprintf("%s %03d", name, i), number: i,
		}
		c.projects[p.ID] = p
		c.order = append(c.order, p)
	}
	return c
}

// Projects returns the projects in order.
func (c *Cloud) Projects() []Project { return c.order }

// Access returns the product's access data for a project.
func (p Project) Access(org posture.OrgID, c Credential) posture.Access {
	return posture.Access{
		Org:     org,
		Account: posture.Account{ID: posture.AccountID(p.ID), Provider: posture.GCP, Name: p.Name},
		Credential: posture.Credential{
			Provider: posture.GCP, Properties: []posture.Property{posture.Text(posture.PropServiceAccountEmail, c.Email)},
		},
		Secrets: posture.Secrets{posture.PropServiceAccountKey: c.Key},
	}
}

// ServeHTTP implements [http.Handler].
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if serviceOf(r) == "oauth2" {
		c.token(w, r)
		return
	}
	x, failed := c.parse(r)
	if failed != nil {
		x.refuse(w, failed)
		return
	}
	c.faults.Serve(w, r, gateway.Exchange{
		Call:   gateway.Call{Cloud: "gcp", Account: x.project.ID, Service: x.service, Action: x.action()},
		Refuse: func(w http.ResponseWriter, f gateway.Fault) { x.refuse(w, x.fault(w, f)) },
		Answer: func(w http.ResponseWriter) { x.answer(w, r) },
	})
}

// answerUnsimulated answers a call that the cloud does not simulate. It reports whether it
// could.
func (c *Cloud) answerUnsimulated(w http.ResponseWriter, r *http.Request) bool {
	p, ok := c.projectIn(r)
	return ok && c.options.Unsimulated != nil && c.options.Unsimulated(w, r, p)
}

// projectIn returns the project that a request names.
func (c *Cloud) projectIn(r *http.Request) (Project, bool) {
	for _, p := range c.order {
		if strings.Contains(r.URL.Path, "/projects/"+p.ID) || strings.Contains(r.URL.Path, "/projects/"+p.Number) || r.URL.Query().Get("project") == p.ID {
			return p, true
		}
	}
	return Project{}, false
}
