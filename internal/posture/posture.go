// Package posture holds the vocabulary of the posture server: accounts,
// credentials, links, runs, entities, rules and findings, the rules that hold
// for them, and what may be asked of their stores.
//
// It imports the standard library and package fault, nothing else, so that
// every other package of the server may import it.
package posture

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// OrgID names an organisation. Everything a customer owns belongs to one, and
// no request ever sees another's.
type OrgID string

// Provider is a cloud, by its wire value.
type Provider string

// The providers.
const (
	AWS   Provider = "aws"
	Azure Provider = "azure"
	GCP   Provider = "gcp"
)

// Providers lists the clouds in their usual order.
var Providers = []Provider{AWS, Azure, GCP}

// ParseProvider reads a provider without regard to case.
func ParseProvider(s string) (Provider, bool) {
	return fold(s, Providers)
}

// Page says which part of a list is wanted. The zero value asks for all of it.
type Page struct {
	After string // the key of the last record already seen
	Size  int    // how many records at most; 0 for all
}

// A Pulse tells whether anything of an organisation has changed: each member is
// another text after a change of its kind.
type Pulse struct {
	Findings, Entities, Rules, Accounts, Collections string
	LastChange                                       time.Time // zero before the first
}

// MaxPage is the largest page a caller may ask for.
const MaxPage = 1000

// NewETag returns a version no record has had before.
func NewETag() string { return rand.Text()[:20] }

// checkVersion fails with fault.Stale unless wanted, when given, is current.
func checkVersion(current, wanted string) error {
	if wanted == "" || wanted == "*" || slices.Contains(strings.Split(wanted, ","), current) {
		return nil
	}
	return fault.New(fault.Stale, "the record has changed since it was read; read it again")
}

// fold returns the member of set that equals s without regard to case.
func fold[T ~string](s string, set []T) (T, bool) {
	for _, v := range set {
		if strings.EqualFold(s, string(v)) {
			return v, true
		}
	}
	return "", false
}
