// Package aws simulates AWS: accounts, regions and resources under the real
// host names and in the real protocols, so that the official SDK works with it
// unchanged.
//
// The resources are generated from a seed (see package world). The cloud also
// computes which findings the built-in rules must report.
package aws

import (
	"crypto/hmac"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// Options configure the simulated cloud.
type Options struct {
	Seed     world.Seed
	Accounts int      // number of accounts
	First    int64    // id of the first account; 200000000001 when zero
	Regions  []string // enabled regions; us-east-1 and eu-west-1 when empty
	Size     int      // approximate number of resources of an account; at least some of each kind
	Shares   world.Shares

	// Today is the reference time of ages: keys are old and certificates have
	// expired relative to it. It does not advance, so that the same cloud read
	// twice is the same. When zero, it is the time of New. It is not the last midnight:
	// if a test runs past the next midnight, the last use of a root user must still be
	// less than 24 hours ago.
	Today time.Time

	// Unsimulated, if set, answers reads that the cloud does not simulate. If it reports
	// false, the cloud sends an empty answer.
	Unsimulated func(w http.ResponseWriter, r *http.Request, account string) bool

	// AccessKeyID and SecretAccessKey belong to the identity that may assume roles.
	AccessKeyID, SecretAccessKey string
	// Now is the clock for the expiry of sessions.
	Now func() time.Time
}

// Names of the roles that every account has for the product.
const (
	ReaderRole = "vigil"        // may read everything
	DeniedRole = "vigil-denied" // may be assumed, but may read nothing
)

// Cloud is a simulated AWS. It is an http.Handler for Hosts.
type Cloud struct {
	world.World
	options         Options
	faults          *gateway.Faults
	key             []byte // key of the signatures of session tokens
	inventory       *inventory
	operations      map[string]map[string]operation // by service and action
	createdRoles    roles
	disabledRegions sync.Map // keys of type world.Place
}

// Hosts are the host names that the cloud serves.
var Hosts = []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"}

// New returns a cloud. Faults determines which calls fail.
func New(o Options, faults *gateway.Faults) *Cloud {
	if o.First == 0 {
		o.First = 200000000001
	}
	if o.Accounts == 0 {
		o.Accounts = 1
	}
	if len(o.Regions) == 0 {
		o.Regions = []string{"us-east-1", "eu-west-1"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Today.IsZero() {
		o.Today = o.Now().UTC().Truncate(time.Second)
	}
	if o.AccessKeyID == "" {
		o.AccessKeyID, o.SecretAccessKey = "AKIA"+rand.Text()[:16], rand.Text()
	}
	c := &Cloud{options: o, faults: faults, key: []byte(rand.Text()), operations: map[string]map[string]operation{}}
	c.inventory = newInventory(c)
	for _, register := range services {
		register(c)
	}
	return c
}

// Identity returns the access key of the identity that may assume roles.
func (c *Cloud) Identity() (accessKeyID, secretAccessKey string) {
	return c.options.AccessKeyID, c.options.SecretAccessKey
}

// An Account contains the data for accessing one account.
type Account struct {
	ID            string
	RoleArn       string
	DeniedRoleArn string
	ExternalID    string
}

// Account returns the i-th account.
func (c *Cloud) Account(i int) Account {
	id := fmt.Sprintf("%012d", c.options.First+int64(i))
	return Account{
		ID:            id,
		RoleArn:       "arn:aws:iam::" + id + ":role/" + ReaderRole,
		DeniedRoleArn: "arn:aws:iam::" + id + ":role/" + DeniedRole,
		ExternalID:    "ext-" + c.options.Seed.With("external").With(id).Hex(12),
	}
}

// accountIndex returns the index of an account, or false for an unknown one.
func (c *Cloud) accountIndex(id string) (int, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	i := int(n - c.options.First)
	return i, err == nil && len(id) == 12 && i >= 0 && i < c.options.Accounts
}

// violates reports whether the i-th resource must violate a rule.
func (c *Cloud) violates(rule string, p world.Place, i int) bool {
	return c.seed(p).With(rule).Nth(i).Share(c.options.Shares.Of(rule))
}

// seed returns the seed of a place.
func (c *Cloud) seed(p world.Place) world.Seed {
	return c.options.Seed.With(p.Account).With(p.Region)
}

// ago returns the time a number of days before Today.
func (c *Cloud) ago(days int) time.Time { return c.options.Today.AddDate(0, 0, -days) }

// ServeHTTP implements [http.Handler].
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := c.parse(r)
	if err != nil {
		call.refuse(w, err)
		return
	}
	if err := c.authenticate(call); err != nil {
		call.refuse(w, err)
		return
	}
	c.faults.Serve(w, r, gateway.Exchange{
		Call:   gateway.Call{Cloud: "aws", Account: call.account, Region: call.region, Service: call.service, Action: call.action},
		Refuse: func(w http.ResponseWriter, f gateway.Fault) { call.refuse(w, call.fault(w, f)) },
		Answer: func(w http.ResponseWriter) { c.answer(w, call) },
	})
}

// answer executes a call.
func (c *Cloud) answer(w http.ResponseWriter, x *call) {
	if x.role == DeniedRole && x.service != "sts" || c.isForbidden(x) {
		x.refuse(w, x.denied())
		return
	}
	run, simulated := c.operations[x.service][x.action]
	if x.unsimulated { // the operation found is that of another service
		simulated = false
	}
	if !simulated && x.isRead() {
		if c.options.Unsimulated == nil || !c.options.Unsimulated(w, x.request, x.account) {
			x.write(w, answer{root: x.action + "Result"})
		}
		return
	}
	if !simulated {
		x.refuse(w, &failure{http.StatusBadRequest, "InvalidAction", "The simulated " + x.service + " has no action " + x.action})
		return
	}
	out, err := run(x)
	if err != nil {
		x.refuse(w, err)
		return
	}
	x.write(w, out)
}

// isRead reports whether a call only reads, judging by the name of its action.
func (c *call) isRead() bool {
	return slices.ContainsFunc([]string{"List", "Describe", "Get", "BatchGet", "Search"}, func(verb string) bool { return strings.HasPrefix(c.action, verb) })
}

// register registers an operation of a service.
func (c *Cloud) register(service, action string, run operation) {
	if c.operations[service] == nil {
		c.operations[service] = map[string]operation{}
	}
	c.operations[service][action] = run
}

// equal compares secrets in constant time.
func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
