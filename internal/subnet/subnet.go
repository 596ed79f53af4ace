// Package subnet returns the network of an IP address by which limits and logins
// identify a client.
package subnet

import "net/netip"

// Of returns an IPv4 address itself, and the /64 prefix of an IPv6 address, because a
// client may choose any address in it. It returns a text that is no address unchanged.
func Of(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if a = a.Unmap().WithZone(""); a.Is4() {
		return a.String()
	}
	return netip.PrefixFrom(a, 64).Masked().String()
}
