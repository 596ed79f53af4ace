package directory

import (
	"encoding/binary"
	"errors"
	"net"
	"strings"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

// opcodeSAMLogonResponseEx is the opcode of the response to an LDAP ping.
const opcodeSAMLogonResponseEx = 23

// servePings answers LDAP pings until the socket is closed.
func (s *Server) servePings() {
	packet := make([]byte, 4096)
	for {
		n, from, err := s.ping.ReadFrom(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an earlier peer closed its socket
		}
		if f := s.Fault(); f == Down || f == Hung {
			continue
		}
		if answer := s.pong(packet[:n]); answer != nil {
			_, _ = s.ping.WriteTo(answer, from) // clients repeat a lost ping
		}
	}
}

// pong returns the response to a ping, or nil for any other packet. The response to a
// ping for another domain has no entry.
func (s *Server) pong(packet []byte) []byte {
	p, err := ber.DecodePacketErr(packet)
	if err != nil {
		return nil
	}
	m, err := parseMessage(p)
	if err != nil || m.op.Tag != ldap.ApplicationSearchRequest {
		return nil
	}
	r, err := parseSearch(m.op)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	d := s.domain
	s.mu.Unlock()
	var answer []byte
	if domainName := filterValue(r.filter, "DnsDomain"); domainName == "" || strings.EqualFold(strings.TrimSuffix(domainName, "."), d.DNSName) {
		e := &entry{attributes: []attribute{attr("netlogon", string(d.netlogon()))}}
		answer = e.packet(m.id, []string{"netlogon"}).Bytes()
	}
	return append(answer, result{}.packet(m.id, ldap.ApplicationSearchResultDone).Bytes()...)
}

// filterValue returns the value that a filter requires of an attribute.
func filterValue(f *ber.Packet, name string) string {
	if f.Tag == ldap.FilterEqualityMatch && len(f.Children) == 2 && strings.EqualFold(octets(f.Children[0]), name) {
		return octets(f.Children[1])
	}
	if f.Tag == ldap.FilterAnd {
		for _, c := range f.Children {
			if v := filterValue(c, name); v != "" {
				return v
			}
		}
	}
	return ""
}

// netlogon encodes NETLOGON_SAM_LOGON_RESPONSE_EX.
func (d *domain) netlogon() []byte {
	const flags = 0x1 | 0x8 | 0x10 | 0x20 | 0x40 | 0x100 // PDC, GC, LDAP, DS, KDC, writable
	b := binary.LittleEndian.AppendUint16(nil, opcodeSAMLogonResponseEx)
	b = binary.LittleEndian.AppendUint16(b, 0) // reserved
	b = binary.LittleEndian.AppendUint32(b, flags)
	b = append(b, guid(d.Root())...)
	for _, name := range []string{
		d.forest(), d.DNSName, d.host() + "." + d.DNSName,
		d.NetBIOS, strings.ToUpper(d.host()), "", // the requested user: none
		"Default-First-Site-Name", "Default-First-Site-Name", // of the controller and of the client
	} {
		b = appendName(b, name)
	}
	b = binary.LittleEndian.AppendUint32(b, 0x5) // NtVersion: V1 and V5EX
	return append(b, 0xff, 0xff, 0xff, 0xff)     // LmNtToken and Lm20Token
}

// appendName encodes a name in DNS format, without compression.
func appendName(b []byte, name string) []byte {
	for label := range strings.SplitSeq(name, ".") {
		if label != "" {
			b = append(append(b, byte(len(label))), label...)
		}
	}
	return append(b, 0)
}
