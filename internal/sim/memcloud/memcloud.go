// Package memcloud is an in-memory fake of a cloud that only knows which
// credential gives access to which account. Tests of onboarding use it.
package memcloud

import (
	"context"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Cloud implements [posture.Cloud]. The zero value has no accounts.
type Cloud struct {
	mu       sync.Mutex
	accounts map[posture.AccountID]Account
	projects map[string][]posture.Project // by service account
}

// Account contains the data for accessing an account.
type Account struct {
	Properties map[string]string // credential properties, including secrets, that give access
	Denied     map[string]string // property values that give access without permission to read
}

// Add adds an account.
func (c *Cloud) Add(id posture.AccountID, a Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.accounts == nil {
		c.accounts = map[posture.AccountID]Account{}
	}
	c.accounts[id] = a
}

// AddProjects makes projects visible to a service account.
func (c *Cloud) AddProjects(serviceAccount string, projects ...posture.Project) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.projects == nil {
		c.projects = map[string][]posture.Project{}
	}
	c.projects[serviceAccount] = append(c.projects[serviceAccount], projects...)
}

// Validate implements [posture.Cloud].
func (c *Cloud) Validate(_ context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	want, ok := c.accounts[a.Account.ID]
	if !ok {
		return posture.AccountValidationFailed, "the cloud has no such account", nil
	}
	value := func(name string) string {
		if v, ok := a.Secrets[name]; ok {
			return v
		}
		return a.Credential.Property(name)
	}
	for name, denied := range want.Denied {
		if value(name) == denied {
			return posture.AccountDenyAccess, "the credential may not read the account", nil
		}
	}
	for name, wantValue := range want.Properties {
		if value(name) != wantValue {
			return posture.AccountValidationFailed, "the cloud refuses " + name, nil
		}
	}
	return posture.AccountActive, "", nil
}

// Discover implements [posture.Cloud].
func (c *Cloud) Discover(_ context.Context, key posture.ServiceAccountKey) ([]posture.Project, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.projects[key.ClientEmail]
	if !ok {
		return nil, fault.New(fault.Invalid, "the cloud refuses the key of %s", key.ClientEmail)
	}
	return found, nil
}

// Members implements [posture.Cloud]: there is no organisation.
func (*Cloud) Members(context.Context, posture.Access) ([]posture.Member, error) {
	return nil, fault.New(fault.Invalid, "the account is in no organisation")
}

// Subscriptions implements [posture.Cloud]: there are none.
func (*Cloud) Subscriptions(context.Context, posture.Access, string) ([]posture.Subscription, error) {
	return []posture.Subscription{}, nil
}

// Principal implements [posture.Cloud].
func (*Cloud) Principal(context.Context) (string, error) {
	return "arn:aws:iam::111111111111:role/vigil", nil
}

// Project returns an active project.
func Project(id string) posture.Project {
	return posture.Project{
		ID: id, Number: "100000000001", Name: id, State: "ACTIVE", Labels: map[string]string{},
		Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}
