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

// warnOfProxy logs the first request with an X-Forwarded-For header that is not trusted. If its sender is a
// reverse proxy, all clients of the proxy share the limits of one address.
func (m *Mux) warnOfProxy(r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" {
		return
	}
	direct := sourceOf(r)
	if addr, err := netip.ParseAddr(direct); err == nil && m.o.Proxies.Contains(addr) {
		return
	}
	m.warnedOfProxy.Do(func() {
		m.o.Log.WarnContext(r.Context(), "X-Forwarded-For ignored: if the sender is your reverse proxy, add it to trusted_proxies; until then its clients share the limits of one address",
			"sender", direct)
	})
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
