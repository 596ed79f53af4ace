// Package outbound restricts the destinations of outgoing connections.
//
// Anybody who may choose an address (in settings, in an inventory, or in a
// message to an event stream) could otherwise use the server to connect to addresses
// that they cannot reach: its own services, or the metadata service with the
// machine's credentials (server-side request forgery). The check applies to the
// resolved address at the time of connecting, so that a name cannot resolve
// differently between check and use.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// ErrRefused means that a connection was refused by the policy.
var ErrRefused = errors.New("connections to this address are not allowed")

// metadata are addresses of metadata services of clouds, in addition to
// link-local ones.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),      // AWS: metadata, DNS and time
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure's host agent
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba Cloud
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle Cloud
}

// unroutable are IPv4 addresses that are not those of a single other machine.
var unroutable = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),          // this network
	netip.MustParsePrefix("255.255.255.255/32"), // broadcast
}

// embedding are IPv6 networks whose addresses contain an IPv4 address.
var embedding = []struct {
	prefix   netip.Prefix
	offset   int  // of the IPv4 address, in bytes
	inverted bool // its bits are inverted
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, false},   // NAT64
	{netip.MustParsePrefix("::/96"), 12, false},          // IPv4-compatible, obsolete
	{netip.MustParsePrefix("2002::/16"), 2, false},       // 6to4
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12, false}, // NAT64 of a local network, with a prefix of 96 bits
	{netip.MustParsePrefix("2001::/32"), 12, true},       // Teredo: the address of the client
}

// A Policy determines which addresses may be connected to. The zero value
// allows all except this machine, link-local addresses, multicast, and metadata
// services.
type Policy struct {
	AllowSelf bool           // allow this machine, by loopback or any of its addresses
	Deny      []netip.Prefix // further networks
}

// Dialer returns a dialer that enforces the policy.
func (p Policy) Dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second, ControlContext: p.control}
}

// control is called with each address before connecting.
func (p Policy) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrRefused, address)
	}
	return p.Check(addrPort.Addr())
}

// Check fails with ErrRefused for an address that must not be connected to.
func (p Policy) Check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	if !a.IsValid() || p.refuses(a) {
		return fmt.Errorf("%w: %s", ErrRefused, a)
	}
	if inner, ok := embeddedIPv4(a); ok && p.refuses(inner) {
		return fmt.Errorf("%w: %s", ErrRefused, a)
	}
	return nil
}

func (p Policy) refuses(a netip.Addr) bool {
	if a.IsLoopback() || isOwn(a) {
		return !p.AllowSelf || contains(p.Deny, a)
	}
	return a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() ||
		contains(unroutable, a) || contains(metadata, a) || contains(p.Deny, a)
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// embeddedIPv4 returns the IPv4 address in an IPv6 address of one of the embedding
// networks. It returns false for other addresses.
func embeddedIPv4(a netip.Addr) (netip.Addr, bool) {
	// ::1 and :: are in ::/96, but contain no IPv4 address.
	if !a.Is6() || a.IsLoopback() || a.IsUnspecified() {
		return netip.Addr{}, false
	}
	bytes := a.As16()
	for _, e := range embedding {
		if !e.prefix.Contains(a) {
			continue
		}
		inner := [4]byte(bytes[e.offset : e.offset+4])
		if e.inverted {
			for i := range inner {
				inner[i] ^= 0xff
			}
		}
		return netip.AddrFrom4(inner), true
	}
	return netip.Addr{}, false
}

// ownAddresses caches the addresses of this machine, which may change.
var ownAddresses struct {
	sync.Mutex
	readAt    time.Time
	addresses map[netip.Addr]bool
}

const ownAge = 10 * time.Second

func isOwn(a netip.Addr) bool {
	ownAddresses.Lock()
	defer ownAddresses.Unlock()
	if ownAddresses.addresses == nil || time.Since(ownAddresses.readAt) > ownAge {
		if list, err := net.InterfaceAddrs(); err == nil {
			ownAddresses.addresses = make(map[netip.Addr]bool, len(list))
			for _, n := range list {
				if p, err := netip.ParsePrefix(n.String()); err == nil {
					ownAddresses.addresses[p.Addr().WithZone("").Unmap()] = true
				}
			}
			ownAddresses.readAt = time.Now()
		}
	}
	return ownAddresses.addresses[a]
}
