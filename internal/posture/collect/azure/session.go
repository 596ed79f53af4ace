package azure

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A session reads one subscription.
type session struct {
	account posture.AccountID
	tenant  string
	base    string // where Resource Manager is
	graph   string // where Microsoft Graph is
	memo    memo
	vaults  vaultIndex
	dial    func() (lines, error)

	renewing sync.Mutex
	lines    atomic.Pointer[lines]
}

func (src *Source) newSession(a posture.Access) (*session, error) {
	env := environmentOf(a.Account)
	s := &session{
		account: a.Account.ID,
		tenant:  strings.ToLower(a.Credential.Property(posture.PropDirectoryID)),
		base:    env.cloud.Services[cloud.ResourceManager].Endpoint,
		graph:   env.graph + "/v1.0",
		memo:    memo{now: src.options.Now},
		dial:    func() (lines, error) { return src.dial(a, env) },
	}
	return s, s.renew(nil)
}

// renew replaces the ways to Azure, and with them the token, unless somebody
// else has just done so.
func (s *session) renew(old *lines) error {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	if s.lines.Load() != old {
		return nil
	}
	fresh, err := s.dial()
	if err == nil {
		s.lines.Store(&fresh)
	}
	return err
}

// arm returns the address of a path of Resource Manager.
func (s *session) arm(path, version string) string {
	address := s.base + path
	if strings.Contains(path, "?") {
		return address + "&api-version=" + version
	}
	return address + "?api-version=" + version
}

// Units implements [collect.Session]. Types that need the same lists follow one
// another, so that they are still remembered.
func (s *session) Units(context.Context) ([]collect.Unit, error) {
	units := make([]collect.Unit, len(collectors))
	for i, c := range collectors {
		units[i] = collect.Bind(c, s, posture.Global)
	}
	return units, nil
}

// Unit implements [collect.Session].
func (s *session) Unit(t posture.EntityType, _ string) (collect.Unit, bool) {
	i := slices.IndexFunc(collectors, func(c collector) bool { return c.Type == t })
	if i < 0 {
		return collect.Unit{}, false
	}
	return collect.Bind(collectors[i], s, posture.Global), true
}

// Close implements [collect.Session].
func (s *session) Close() {}
