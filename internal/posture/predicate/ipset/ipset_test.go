package ipset

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

func TestSets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{Must("0.0.0.0/1", "128.0.0.0/1").String(), "0.0.0.0-255.255.255.255"},
		{Must("10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8", "::1").String(), "10.0.0.0-11.255.255.255 ::1-::1"},
		{Must("10.0.0.7/8").String(), "10.0.0.0-10.255.255.255"},
		{Must("10.0.0.7").String(), "10.0.0.7-10.0.0.7"},
		{Must("::ffff:10.0.0.0/104").String(), "10.0.0.0-10.255.255.255"},
		{Must("::ffff:0:0/96").String(), "0.0.0.0-255.255.255.255"},
		{Must("::ffff:0:0/95").String(), "::fffe:0:0-::ffff:255.255.255.255"},
		{Must("2400::/100").String(), "2400::-2400::fff:ffff"},
		{Must("255.255.255.255", "::").String(), "255.255.255.255-255.255.255.255 ::-::"},
		{Must("10.0.0.0/8").Difference(Must("10.1.0.0/16")).String(), "10.0.0.0-10.0.255.255 10.2.0.0-10.255.255.255"},
		{Must("10.0.0.0/8").Difference(Must("0.0.0.0/0")).String(), ""},
		{Must("10.0.0.0/8").Difference(Must("::/0")).String(), "10.0.0.0-10.255.255.255"},
		{Must("10.0.0.0/8", "8.8.8.8").Public().String(), "8.8.8.8-8.8.8.8"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	for text, want := range map[string]bool{
		"0.0.0.0/0": true, "::/0": true, "0.0.0.0/1": true, "2000::/3": true, "128.0.0.0/2": true, "8.0.0.0/7": true, "8.0.0.0/8": false, "10.0.0.0/7": false,
		"10.0.0.0/8": false, "8.8.8.8": false, "2400::/31": true, "2400::/32": false, "fc00::/7": false, "2001:db8::/32": false, "224.0.0.0/3": false,
	} {
		if got := Must(text).IsInternet(); got != want {
			t.Errorf("%s is the internet: %t", text, got)
		}
	}
	if Must("8.0.0.0/8").IsInternet() || !Must("8.0.0.0/8", "20.0.0.0/24").IsInternet() || !Must("2400::/32", "2600::1").IsInternet() || !Must("8.0.0.0/8", "20.0.0.1").IsInternet() {
		t.Error("IsInternet does not add up the sizes of all ranges of a set")
	}
	for _, text := range []string{"", "10.0.0.0/33", "fe80::1%eth0", "somewhere", "10.0.0"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("Parse accepts %q as %s", text, s)
		}
	}
	if _, err := Range(netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.1")); err == nil {
		t.Error("Range accepts a range that ends before it begins")
	}
	if _, err := Range(netip.Addr{}, netip.Addr{}); err == nil {
		t.Error("Range accepts the zero addresses")
	}
	if _, err := Range(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1")); err == nil {
		t.Error("Range accepts a range from an IPv4 to an IPv6 address")
	}
	if s, err := Range(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")); err != nil || s.String() != "10.0.0.1-10.0.0.2" {
		t.Errorf("Range = %s, %v; want 10.0.0.1-10.0.0.2", s, err)
	}
}

// TestSetsMatchAddresses compares set operations with those on single addresses,
// in a small part of the address space.
func TestSetsMatchAddresses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var a, b Set
		var inA, inB [256]bool // whether address(i) is in the set
		for range 1 + random.IntN(5) {
			fill(random, &a, &inA)
			fill(random, &b, &inB)
		}
		union, difference, intersection := a.Union(b), a.Difference(b), a.Intersect(b)
		for i := range 256 {
			single := Set{[]span{{address(i), address(i)}}}
			if union.Contains(single) != (inA[i] || inB[i]) || difference.Contains(single) != (inA[i] && !inB[i]) || intersection.Contains(single) != (inA[i] && inB[i]) {
				t.Fatalf("the union, difference or intersection of %s and %s is wrong at %s", a, b, address(i))
			}
		}
	}
}

// fill adds a random network of 1 to 256 addresses to a set and to its expected members.
func fill(random *rand.Rand, s *Set, members *[256]bool) {
	bits := 24 + random.IntN(9)
	first := random.IntN(256) &^ (1<<(32-bits) - 1)
	*s = s.Union(Must(netip.PrefixFrom(address(first), bits).String()))
	for i := range 1 << (32 - bits) {
		members[first+i] = true
	}
}

func address(i int) netip.Addr { return netip.AddrFrom4([4]byte{1, 2, 3, byte(i)}) }
