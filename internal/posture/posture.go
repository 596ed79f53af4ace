// Package posture holds the domain types of the posture server: accounts, credentials,
// links, runs, entities, rules and findings, their validation, and the interfaces of
// their stores.
//
// It imports only the standard library and package fault, so that every other package
// of the server may import it.
package posture

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// OrgID identifies an organisation (a tenant). Every customer record belongs to one,
// and a request only sees records of its own organisation.
type OrgID string

// Provider is a cloud provider; its value is the one in the API.
type Provider string

// The providers.
const (
	AWS   Provider = "aws"
	Azure Provider = "azure"
	GCP   Provider = "gcp"
)

// Providers lists the providers in display order.
var Providers = []Provider{AWS, Azure, GCP}

// ParseProvider parses a provider, ignoring case.
func ParseProvider(s string) (Provider, bool) {
	return findFold(s, Providers)
}

// Page selects a part of a list. The zero value selects all of it.
type Page struct {
	After string // cursor: the key of the last record of the previous page
	Size  int    // maximum number of records; 0 for all
}

// A Pulse tells clients whether data of an organisation changed: each member is a
// version token that differs after a change of its kind of record.
type Pulse struct {
	Findings, Entities, Rules, Accounts, Collections string
	LastChange                                       time.Time // zero before the first
}

// MaxPage is the largest page size that a client may request.
const MaxPage = 1000

// NewETag returns a random, unique version of a record.
func NewETag() string { return rand.Text()[:20] }

// checkVersion fails with fault.Stale if the list of required ETags, separated by commas, does
// not contain the current one. "" and "*" accept every version.
func checkVersion(current, required string) error {
	if required == "" || required == "*" || slices.Contains(strings.Split(required, ","), current) {
		return nil
	}
	return fault.New(fault.Stale, "the record has changed since it was read; read it again")
}

// findFold returns the member of set that equals s, ignoring case.
func findFold[T ~string](s string, set []T) (T, bool) {
	for _, v := range set {
		if strings.EqualFold(s, string(v)) {
			return v, true
		}
	}
	return "", false
}
