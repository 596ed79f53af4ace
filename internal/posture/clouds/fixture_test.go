package clouds

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/resource"
	"vigil/internal/posture/store"
	"vigil/internal/posture/sweep"
	"vigil/internal/secret/secrettest"
	simaws "vigil/internal/sim/aws"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

const org = posture.OrgID("org")

// ample is a deadline that is long enough on a busy machine.
const ample = 10 * time.Minute

// today is a fixed date, so that the simulated clouds are deterministic.
var today = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

// A fixture is a simulated cloud with two accounts, and the components that collect them
// into a database.
type fixture struct {
	provider posture.Provider
	faults   *gateway.Faults
	accounts [2]posture.Access
	remove   func(posture.Entity) error // deletes a resource in the cloud
	loose    posture.EntityType         // type of resources that nothing depends on
	store    *store.Store
	sweep    *sweep.Sweep
	metrics  *prometheus.Registry

	regions   []string                     // of AWS
	switchOff func(account, region string) // of AWS: makes the region disabled in the account
}

// newFixture starts a simulated cloud and onboards its accounts. AWS has the given regions,
// by default one.
func newFixture(t *testing.T, p posture.Provider, regions ...string) *fixture {
	t.Helper()
	return newFixtureOf(t, nil, p, regions...)
}

// newFixtureOf is newFixture with other resource types than the built-in ones.
func newFixtureOf(t *testing.T, types *resource.Catalog, p posture.Provider, regions ...string) *fixture {
	t.Helper()
	g := gatewaytest.Listen(t)
	r := &fixture{provider: p, faults: g.Faults, metrics: prometheus.NewRegistry(), regions: regions}
	if len(r.regions) == 0 {
		r.regions = []string{"us-east-1"}
	}
	key, secret := r.simulate(g)
	gatewaytest.Serve(t, g)
	all, err := New(Options{
		AWS: aws.Identity{AccessKeyID: key, SecretAccessKey: secret}, Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}, Metrics: r.metrics, Catalog: types,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	r.store = store.New(db, secrettest.NewBox(t), noJobs{})
	sources := map[posture.Provider]collect.Source{}
	for _, s := range all.Sources() {
		sources[s.Provider()] = s
	}
	var n atomic.Int64
	r.sweep = &sweep.Sweep{
		Store: r.store, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: func() string { return fmt.Sprintf("run-%d", n.Add(1)) },
		Deadline: ample, Lease: time.Minute,
		Runner: &collect.Runner{Sources: sources, Recorder: r.store, Parallel: 8, Log: slog.New(slog.DiscardHandler)},
	}
	r.onboard(t)
	return r
}

// simulate creates the cloud. It returns the server's AWS access key.
func (r *fixture) simulate(g *gateway.Gateway) (key, secret string) {
	const size = 40
	shares := world.Shares{Default: 0.2}
	switch r.provider {
	case posture.AWS:
		c := simaws.New(simaws.Options{Seed: 1, Accounts: 2, Size: size, Regions: r.regions, Shares: shares, Today: today}, g.Faults)
		handle(g, simaws.Hosts, c)
		for i := range r.accounts {
			a := c.Account(i)
			r.accounts[i] = posture.Access{Account: posture.Account{ID: posture.AccountID(a.ID)}, Credential: posture.Credential{Properties: []posture.Property{
				posture.Text(posture.PropRoleArn, a.RoleArn), posture.Text(posture.PropExternalID, a.ExternalID),
			}}}
		}
		r.loose, r.switchOff = "AWS.EC2.Volume", c.SwitchOff
		r.remove = func(e posture.Entity) error {
			name := e.XID[strings.LastIndex(e.XID, "/")+1:]
			return c.Change(world.Change{Ref: world.Ref{Type: e.Type, Place: world.Place{Account: string(e.Account), Region: e.Region}, Name: name}, Gone: true})
		}
		return c.Identity()
	case posture.Azure:
		c := simazure.New(simazure.Options{Seed: 2, Subscriptions: 2, Size: size, Users: 5, Shares: shares, Today: today}, g.Faults)
		handle(g, simazure.Hosts, c)
		for i, s := range c.Subscriptions() {
			r.accounts[i] = s.Access(org, c.Reader(simazure.PublicCloud))
		}
		r.loose = "Azure.Compute.Disk"
		r.remove = func(e posture.Entity) error { return c.Change(simazure.Change{ID: e.XID, Gone: true}) }
	case posture.GCP:
		c := simgcp.New(simgcp.Options{Seed: 3, Projects: 2, Size: size, Shares: shares, Today: today}, g.Faults)
		handle(g, simgcp.Hosts, c)
		for i, p := range c.Projects() {
			r.accounts[i] = p.Access(org, c.Reader())
		}
		r.loose = "GCP.Storage.Bucket"
		r.remove = func(e posture.Entity) error {
			return c.Change(simgcp.Change{Type: e.Type, Project: string(e.Account), Name: e.Name, Gone: true})
		}
	}
	return "", ""
}

func handle(g *gateway.Gateway, hosts []string, cloud http.Handler) {
	for _, host := range hosts {
		g.Handle(host, cloud)
	}
}

// onboard adds the accounts.
func (r *fixture) onboard(t *testing.T) {
	t.Helper()
	now := time.Now()
	err := r.store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
		for i, x := range r.accounts {
			a := posture.Account{ID: x.Account.ID, Provider: r.provider, Name: string(x.Account.ID)}
			a = a.WithStream(posture.StreamDisconnected, now).WithStatus(posture.AccountActive, "", now)
			c := x.Credential
			c.ID, c.Provider = posture.CredentialID(fmt.Sprint("c", i)), r.provider
			if err := errors.Join(tx.AddAccount(a), tx.SaveCredential(c, x.Secrets), tx.AddLink(posture.NewLink(a, c, now))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// noJobs discards jobs: the tests call the workers themselves.
type noJobs struct{}

func (noJobs) Validate(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }
func (noJobs) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error        { return nil }
func (noJobs) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error    { return nil }
func (noJobs) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error   { return nil }
func (noJobs) Remove(*sqldb.Tx, posture.OrgID, posture.AccountID) error   { return nil }

// collect runs a collection of an account and returns the ended run.
func (r *fixture) collect(t *testing.T, id posture.AccountID) posture.Run {
	t.Helper()
	run, err := r.sweep.Start(t.Context(), org, id, posture.RunScope{})
	if err != nil {
		t.Error(err)
		return run
	}
	if err := r.sweep.Work(t.Context(), org, run.ID, false); err != nil { // false: no retry
		t.Error(err)
	}
	if run, err = r.store.Run(t.Context(), org, run.ID); err != nil {
		t.Error(err)
	}
	return run
}

// known returns the stored entities of an account, and its generation.
func (r *fixture) known(t *testing.T, id posture.AccountID) (map[posture.EntityID]posture.Entity, int64) {
	t.Helper()
	all := map[posture.EntityID]posture.Entity{}
	generation, err := r.store.EachEntity(t.Context(), org, id, func(e posture.Entity) error {
		all[e.ID] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, generation
}
