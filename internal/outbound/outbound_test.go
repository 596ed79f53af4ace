package outbound_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"vigil/internal/outbound"
)

func TestForbiddenAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var strict outbound.Policy
	for _, a := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0.0.0", "0.1.2.3", "::", "255.255.255.255",
		"169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0", "224.0.0.1", "ff02::1",
		"fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192",
		"64:ff9b::169.254.169.254", "64:ff9b::7f00:1", // NAT64 of 169.254.169.254 and 127.0.0.1
		"2002:a9fe:a9fe::1", "2002:7f00:1::", // 6to4 of 169.254.169.254 and 127.0.0.1
		"::169.254.169.254",
		"2001:0:1:2:3:4:5601:5601", // Teredo of 169.254.169.254
	} {
		if err := strict.Check(netip.MustParseAddr(a)); !errors.Is(err, outbound.ErrRefused) {
			t.Errorf("%s: %v, want %v", a, err, outbound.ErrRefused)
		}
	}
	for _, a := range []string{"192.0.2.1", "10.0.0.1", "2001:db8::1", "64:ff9b::192.0.2.1", "fd12:3456::1"} {
		if err := strict.Check(netip.MustParseAddr(a)); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	denied := outbound.Policy{AllowSelf: true, Deny: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for a, allowed := range map[string]bool{"127.0.0.1": true, "::1": true, "10.1.2.3": false, "::ffff:10.1.2.3": false, "64:ff9b::10.1.2.3": false, "169.254.169.254": false} {
		if err := denied.Check(netip.MustParseAddr(a)); (err == nil) != allowed {
			t.Errorf("%s: %v; allowed: want %t", a, err, allowed)
		}
	}
}

func TestOwnAddressesAreRefused(t *testing.T) {
	t.Parallel()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		a := netip.MustParsePrefix(n.String()).Addr()
		if err := (outbound.Policy{}).Check(a); !errors.Is(err, outbound.ErrRefused) {
			t.Errorf("%s: %v, want %v", a, err, outbound.ErrRefused)
		}
	}
}

func TestAddressIsCheckedWhenConnecting(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		if _, err := (outbound.Policy{}).Dialer(time.Minute).DialContext(t.Context(), "tcp", host+":"+port); !errors.Is(err, outbound.ErrRefused) {
			t.Errorf("connect to %s: %v, want %v", host, err, outbound.ErrRefused)
		}
	}
	c, err := outbound.Policy{AllowSelf: true}.Dialer(time.Minute).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
