package auth

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"vigil/internal/fault"
)

// Scopes are the parts of the API that a token can be limited to.
var Scopes = []string{"accounts", "administration", "console", "entities", "findings", "rules"}

// maxTokenAddresses limits the networks of one token.
const maxTokenAddresses = 50

// TokenLimits restrict an API token. The zero value restricts nothing.
type TokenLimits struct {
	Scopes    string // parts of the API, separated by commas; empty for all
	Addresses string // networks it may be used from, separated by commas; empty for all
}

// NewTokenLimits validates scopes and networks (10.0.0.0/8, or single
// addresses) and returns the limits.
func NewTokenLimits(scopes, addresses []string) (TokenLimits, error) {
	var names, networks []string
	for _, s := range scopes {
		s = strings.ToLower(strings.TrimSpace(s))
		if !slices.Contains(Scopes, s) {
			return TokenLimits{}, fault.Field("scopes", "must be some of %s", strings.Join(Scopes, ", "))
		}
		names = append(names, s)
	}
	if len(addresses) > maxTokenAddresses {
		return TokenLimits{}, fault.Field("addresses", "must have at most %d elements", maxTokenAddresses)
	}
	for _, text := range addresses {
		p, err := parseNetwork(strings.TrimSpace(text))
		if err != nil {
			return TokenLimits{}, fault.Field("addresses", "must be addresses or networks such as 192.0.2.7 and 10.0.0.0/8")
		}
		networks = append(networks, p.String())
	}
	slices.Sort(names)
	slices.Sort(networks)
	return TokenLimits{strings.Join(slices.Compact(names), ","), strings.Join(slices.Compact(networks), ",")}, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		if a.Zone() != "" {
			return netip.Prefix{}, errors.New("addresses with a zone are not allowed")
		}
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// ScopeList returns the scopes as a list; empty for all.
func (l TokenLimits) ScopeList() []string { return commaList(l.Scopes) }

// AddressList returns the networks as a list; empty for all.
func (l TokenLimits) AddressList() []string { return commaList(l.Addresses) }

func commaList(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}

// AllowsScope reports whether the token may be used for a part of the API.
func (l TokenLimits) AllowsScope(scope string) bool {
	return l.Scopes == "" || slices.Contains(commaList(l.Scopes), scope)
}

// AllowsAddress reports whether the token may be used from an address.
func (l TokenLimits) AllowsAddress(address string) bool {
	if l.Addresses == "" {
		return true
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	a = a.Unmap().WithZone("")
	for _, text := range commaList(l.Addresses) {
		if p, err := netip.ParsePrefix(text); err == nil && p.Contains(a) {
			return true
		}
	}
	return false
}

// includes reports whether these limits allow everything that the others allow.
func (l TokenLimits) includes(others TokenLimits) bool {
	return l.includesScopes(others) && l.includesAddresses(others)
}

func (l TokenLimits) includesScopes(others TokenLimits) bool {
	if l.Scopes == "" {
		return true
	}
	if others.Scopes == "" {
		return false
	}
	for _, scope := range commaList(others.Scopes) {
		if !l.AllowsScope(scope) {
			return false
		}
	}
	return true
}

func (l TokenLimits) includesAddresses(others TokenLimits) bool {
	if l.Addresses == "" {
		return true
	}
	if others.Addresses == "" {
		return false
	}
	for _, text := range commaList(others.Addresses) {
		inner, err := netip.ParsePrefix(text)
		if err != nil || !l.containsNetwork(inner) {
			return false
		}
	}
	return true
}

// containsNetwork reports whether one of the networks contains the inner one.
func (l TokenLimits) containsNetwork(inner netip.Prefix) bool {
	return slices.ContainsFunc(commaList(l.Addresses), func(text string) bool {
		outer, err := netip.ParsePrefix(text)
		return err == nil && outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
	})
}
