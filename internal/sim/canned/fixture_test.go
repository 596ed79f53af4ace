package canned_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/collect/gcp"
	simaws "vigil/internal/sim/aws"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/canned"
	"vigil/internal/sim/gateway/gatewaytest"
	simgcp "vigil/internal/sim/gcp"
)

func declarations() []collect.Declaration {
	return slices.Concat(aws.Declarations(declared.Catalog()), azure.New(azure.Options{}).Declarations(), gcp.New(gcp.Options{}).Declarations())
}

// A fixture is an account of a simulated cloud and the collector that reads it. The simulated
// cloud of its provider authenticates the collector; the other calls have canned
// responses.
type fixture struct {
	cloud   *canned.Cloud
	source  collect.Source
	access  posture.Access
	replace []string // pairs: an id in the cases, and that of the account
}

func newFixture(t *testing.T, p posture.Provider) *fixture {
	t.Helper()
	g := gatewaytest.Listen(t)
	r := &fixture{}
	var identity aws.Identity
	var next http.Handler
	var hosts []string
	switch p {
	case posture.AWS:
		c := simaws.New(simaws.Options{Seed: 1, Regions: []string{cases.Vars[p].Region}}, g.Faults)
		next, hosts = c, simaws.Hosts
		a := c.Account(0)
		identity.AccessKeyID, identity.SecretAccessKey = c.Identity()
		r.access = posture.Access{Account: posture.Account{ID: posture.AccountID(a.ID), Provider: p}, Credential: posture.Credential{Properties: []posture.Property{
			posture.Text(posture.PropRoleArn, a.RoleArn), posture.Text(posture.PropExternalID, a.ExternalID),
		}}}
		r.replace = []string{string(catalog.Account(p)), a.ID}
	case posture.Azure:
		c := simazure.New(simazure.Options{Seed: 2}, g.Faults)
		next, hosts = c, simazure.Hosts
		s := c.Subscriptions()[0]
		r.access = s.Access("org", c.Reader(simazure.PublicCloud))
		r.replace = []string{string(catalog.Account(p)), s.ID, cases.Vars[p].Tenant, s.Tenant}
	case posture.GCP:
		c := simgcp.New(simgcp.Options{Seed: 3}, g.Faults)
		next, hosts = c, simgcp.Hosts
		project := c.Projects()[0]
		r.access = project.Access("org", c.Reader())
		r.replace = []string{string(catalog.Account(p)), project.ID, cases.Vars[p].Number, project.Number}
	}
	var err error
	if r.cloud, err = canned.New(p, declared.Catalog(), next); err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		g.Handle(host, r.cloud)
	}
	gatewaytest.Serve(t, g)
	all, err := clouds.New(clouds.Options{AWS: identity, Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	for _, s := range all.Sources() {
		if s.Provider() == p {
			r.source = s
		}
	}
	return r
}

// read returns the entities of some types of the account, and the errors of the types that
// could not be read. The cloud responds with the given answers. Of the other calls, those in
// listing return an empty list and the rest are denied.
func (r *fixture) read(ctx context.Context, answers map[string]any, listing map[string]bool, types []posture.EntityType) ([]posture.Entity, map[posture.EntityType]error, error) {
	if err := r.cloud.Set(canned.Responses{}); err != nil { // the simulated cloud answers the calls that open a session
		return nil, nil, err
	}
	session, err := r.source.Open(ctx, r.access)
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	units, err := session.Units(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = r.cloud.Set(canned.Responses{Answers: answers, Replace: r.replace, Unanswered: func(call string) any {
		if listing[call] {
			return map[string]any{}
		}
		return "denied"
	}})
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var found []posture.Entity
	failed := map[posture.EntityType]error{}
	for _, u := range units {
		if !slices.Contains(types, u.Type) {
			continue
		}
		err := u.List(ctx, func(resource *collect.Resource) error {
			mu.Lock()
			defer mu.Unlock()
			resource.Normalize()
			found = append(found, resource.Entity)
			return nil
		})
		if err != nil {
			failed[u.Type] = err
		}
	}
	return found, failed, nil
}
