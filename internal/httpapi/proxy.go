package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses of reverse proxies whose X-Forwarded-For header is
// trusted. The header of any other sender is ignored, because callers could
// evade the limits per address with it.
type Proxies []netip.Prefix

// Contains reports whether an address is that of a trusted proxy.
func (ps Proxies) Contains(a netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// maxHops limits how many entries of X-Forwarded-For are evaluated.
const maxHops = 16

// source returns the address that sent a request: the peer of the connection
// or, if that is a trusted proxy, the last untrusted entry of X-Forwarded-For.
func (ps Proxies) source(r *http.Request) string {
	direct := sourceOf(r)
	addr, err := netip.ParseAddr(direct)
	if err != nil || len(ps) == 0 {
		return direct
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for range maxHops {
		if !ps.Contains(addr) || len(hops) == 0 {
			break
		}
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		a, err := netip.ParseAddr(last)
		if err != nil {
			if p, perr := netip.ParseAddrPort(last); perr == nil {
				a, err = p.Addr(), nil
			}
		}
		if err != nil {
			break
		}
		addr = a.Unmap().WithZone("")
	}
	return addr.String()
}
