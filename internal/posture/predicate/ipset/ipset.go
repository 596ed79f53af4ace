// Package ipset implements sets of IP addresses. Whether a firewall admits the
// internet depends on the union of its rules: 0.0.0.0/1 and 128.0.0.0/1 together
// are the internet, as is 0.0.0.0/0.
package ipset

import (
	"fmt"
	"math/big"
	"net/netip"
	"slices"
)

// A Set is a set of IPv4 and IPv6 addresses. The zero value is empty.
type Set struct {
	ranges []span // sorted, IPv4 before IPv6, disjoint and not adjacent
}

// A span is an inclusive range of addresses of one IP version.
type span struct{ from, to netip.Addr }

// Parse parses a CIDR range or a single address. Addresses of ::ffff:0:0/96 are
// converted to the IPv4 addresses that they represent.
func Parse(text string) (Set, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, errAddr := netip.ParseAddr(text)
		if errAddr != nil || a.Zone() != "" {
			return Set{}, fmt.Errorf("%.60q is not an address or CIDR range", text)
		}
		a = a.Unmap()
		return Set{[]span{{a, a}}}, nil
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	p = p.Masked()
	return Set{[]span{{p.Addr(), last(p)}}}, nil
}

// Must is Parse for constants. It panics on an error.
func Must(texts ...string) Set {
	var all Set
	for _, text := range texts {
		parsed, err := Parse(text)
		if err != nil {
			panic(err)
		}
		all = all.Union(parsed)
	}
	return all
}

// Range returns the addresses from one to another of the same IP version.
func Range(from, to netip.Addr) (Set, error) {
	from, to = from.Unmap(), to.Unmap()
	if !from.IsValid() || from.BitLen() != to.BitLen() || to.Less(from) {
		return Set{}, fmt.Errorf("%s to %s is not a valid address range", from, to)
	}
	return Set{[]span{{from, to}}}, nil
}

// last returns the last address of a prefix.
func last(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

// IsEmpty reports whether the set is empty.
func (s Set) IsEmpty() bool { return len(s.ranges) == 0 }

// Union returns the addresses that are in either set.
func (s Set) Union(o Set) Set {
	all := slices.Concat(s.ranges, o.ranges)
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	var out []span
	for _, r := range all {
		if n := len(out) - 1; n >= 0 && touches(out[n], r) {
			if out[n].to.Less(r.to) {
				out[n].to = r.to
			}
			continue
		}
		out = append(out, r)
	}
	return Set{out}
}

// touches reports whether b, which does not begin before a, overlaps a or is adjacent to it.
func touches(a, b span) bool {
	if a.to.BitLen() != b.from.BitLen() {
		return false
	}
	return !a.to.Less(b.from) || a.to.Next() == b.from
}

// Difference returns the addresses that are in the set and not in the other.
func (s Set) Difference(o Set) Set {
	var out []span
	cuts := o.ranges
	for _, r := range s.ranges {
		for len(cuts) > 0 && cuts[0].to.Less(r.from) {
			cuts = cuts[1:]
		}
		rest := true
		for _, cut := range cuts {
			if r.to.Less(cut.from) {
				break
			}
			if r.from.Less(cut.from) {
				out = append(out, span{r.from, cut.from.Prev()})
			}
			if rest = cut.to.Less(r.to); !rest {
				break
			}
			r.from = cut.to.Next()
		}
		if rest {
			out = append(out, r)
		}
	}
	return Set{out}
}

// Intersect returns the addresses that are in both sets.
func (s Set) Intersect(o Set) Set {
	var out []span
	a, b := s.ranges, o.ranges
	for len(a) > 0 && len(b) > 0 {
		both := a[0]
		if both.from.Less(b[0].from) {
			both.from = b[0].from
		}
		if b[0].to.Less(both.to) {
			both.to = b[0].to
		}
		if !both.to.Less(both.from) {
			out = append(out, both)
		}
		if a[0].to.Less(b[0].to) {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return Set{out}
}

// private are the addresses that are not routed on the internet.
var private = Must(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"::/3", "4000::/2", "8000::/1", "2001:db8::/32",
)

// internet are the addresses that are routed on the internet.
var internet = Must("0.0.0.0/0", "::/0").Difference(private)

// Public returns the addresses of the set that are routed on the internet.
func (s Set) Public() Set { return s.Intersect(internet) }

// IsInternet reports whether the set counts as the internet: it has more public
// addresses than a /8 of IPv4 or a /32 of IPv6, in any number of ranges. Amazon
// S3 uses the same limits for policies:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
func (s Set) IsInternet() bool {
	four, six := s.Public().sizes()
	return four.Cmp(max4) > 0 || six.Cmp(max6) > 0
}

// The largest sizes that do not count as the internet: a /8 of IPv4, a /32 of IPv6.
var (
	max4 = new(big.Int).Lsh(big.NewInt(1), 24)
	max6 = new(big.Int).Lsh(big.NewInt(1), 96)
	one  = big.NewInt(1)
)

// sizes returns the number of addresses of each IP version.
func (s Set) sizes() (four, six *big.Int) {
	four, six = new(big.Int), new(big.Int)
	for _, r := range s.ranges {
		sum := six
		if r.from.Is4() {
			sum = four
		}
		sum.Add(sum, number(r.to)).Sub(sum, number(r.from)).Add(sum, one)
	}
	return four, six
}

// number returns an address as a number.
func number(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }

// Contains reports whether another set is a subset of this one.
func (s Set) Contains(o Set) bool { return o.Difference(s).IsEmpty() }

// String lists the ranges.
func (s Set) String() string {
	out := ""
	for i, r := range s.ranges {
		if i > 0 {
			out += " "
		}
		out += r.from.String() + "-" + r.to.String()
	}
	return out
}
