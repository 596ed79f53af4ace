package azure

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// A session reads one subscription.
type session struct {
	account posture.AccountID
	tenant  string
	base    string // base URL of Resource Manager
	graph   string // base URL of Microsoft Graph
	catalog *resource.Catalog
	memo    memo
	dial    func() (pipelines, error)

	renewing  sync.Mutex
	pipelines atomic.Pointer[pipelines]
}

func (src *Source) newSession(a posture.Access) (*session, error) {
	env := environmentOf(a.Account)
	s := &session{
		account: a.Account.ID,
		tenant:  strings.ToLower(a.Credential.Property(posture.PropDirectoryID)),
		base:    env.cloud.Services[cloud.ResourceManager].Endpoint,
		graph:   env.graph,
		catalog: src.options.Catalog,
		memo:    memo{now: src.options.Now},
		dial:    func() (pipelines, error) { return src.dial(a, env) },
	}
	return s, s.renew(nil) // creates the first pipelines
}

// renew replaces the pipelines, and with them the token, unless another goroutine has just
// done so.
func (s *session) renew(old *pipelines) error {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	if s.pipelines.Load() != old {
		return nil
	}
	fresh, err := s.dial()
	if err == nil {
		s.pipelines.Store(&fresh)
	}
	return err
}

// arm returns the URL of a path of Resource Manager.
func (s *session) arm(path, version string) string {
	address := s.base + path
	if strings.Contains(path, "?") {
		return address + "&api-version=" + version
	}
	return address + "?api-version=" + version
}

// Units implements [collect.Session].
func (s *session) Units(context.Context) ([]collect.Unit, error) {
	var units []collect.Unit
	for _, t := range collect.InOrderOfCalls(s.catalog, posture.Azure) {
		units = append(units, s.unit(t))
	}
	return units, nil
}

// Unit implements [collect.Session].
func (s *session) Unit(t posture.EntityType, _ string) (collect.Unit, bool) {
	declared := s.catalog.Type(t)
	if declared == nil || t.Provider() != posture.Azure {
		return collect.Unit{}, false
	}
	return s.unit(declared), true
}

func (s *session) unit(t *resource.Type) collect.Unit {
	reader := &collect.Reader{Catalog: s.catalog, Transport: s, Context: resource.Context{
		Vars: resource.Vars{Account: s.account, Region: posture.Global, Tenant: s.tenant}, Cloud: naming.Of(posture.Azure, s.catalog),
	}}
	return reader.Unit(t, collect.ServiceOf(s.catalog, t, conventions{}))
}

// Close implements [collect.Session].
func (s *session) Close() {}
