package directory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"

	"vigil/internal/desktop/reach"
)

// A Pong is a controller's response to a ping.
type Pong struct {
	Forest      string
	Domain      string
	Host        string
	NetBIOSName string
	Site        string
}

// pingWait is how long to wait for the response to one packet.
const pingWait = time.Second

// Ping queries over connectionless LDAP whether a controller serves a domain.
// It needs no credentials.
func Ping(ctx context.Context, address, domain string) (Pong, error) {
	conn, err := reach.Dialer().DialContext(ctx, "udp", address)
	if err != nil {
		return Pong{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	request, err := pingRequest(domain)
	if err != nil {
		return Pong{}, err
	}
	answer := make([]byte, 4096)
	for range 2 { // UDP may lose a packet
		if _, err = conn.Write(request); err != nil {
			continue
		}
		if err = conn.SetReadDeadline(time.Now().Add(pingWait)); err != nil {
			return Pong{}, err
		}
		var n int
		n, err = conn.Read(answer)
		if err == nil {
			return decodePong(answer[:n])
		}
		if errors.Is(err, net.ErrClosed) { // ctx is done
			break
		}
	}
	return Pong{}, err
}

// pingRequest encodes the LDAP search of a ping. The flags in NtVer request a
// NETLOGON_SAM_LOGON_RESPONSE_EX, see decodeNetlogon.
func pingRequest(domain string) ([]byte, error) {
	filter, err := ldap.CompileFilter(fmt.Sprintf(`(&(DnsDomain=%s)(NtVer=\16\00\00\00))`, ldap.EscapeFilter(domain)))
	if err != nil {
		return nil, fmt.Errorf("encode ping: %w", err)
	}
	octets := func(s string) *ber.Packet {
		return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
	}
	zero := func(tag ber.Tag) *ber.Packet {
		return ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, tag, 0, "")
	}
	search := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchRequest, nil, "")
	search.AppendChild(octets(""))              // base object: the rootDSE
	search.AppendChild(zero(ber.TagEnumerated)) // scope: base
	search.AppendChild(zero(ber.TagEnumerated)) // aliases: never
	search.AppendChild(zero(ber.TagInteger))    // no size limit
	search.AppendChild(zero(ber.TagInteger))    // no time limit
	typesOnly := ber.NewBoolean(ber.ClassUniversal, ber.TypePrimitive, ber.TagBoolean, false, "")
	search.AppendChild(typesOnly)
	search.AppendChild(filter)
	attributes := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "")
	attributes.AppendChild(octets("netlogon"))
	search.AppendChild(attributes)
	message := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "")
	messageID := ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, 1, "")
	message.AppendChild(messageID)
	message.AppendChild(search)
	return message.Bytes(), nil
}

// errNoPong is the error when a controller does not serve the domain.
var errNoPong = errors.New("the controller does not serve the domain")

// decodePong decodes the response to a ping. Anybody may send UDP packets, so
// every length in the response is checked.
func decodePong(packet []byte) (Pong, error) {
	message, err := ber.DecodePacketErr(packet)
	if err != nil {
		return Pong{}, fmt.Errorf("decode pong: %w", err)
	}
	entry := child(message, 1)
	if entry == nil || entry.ClassType != ber.ClassApplication || entry.Tag != ldap.ApplicationSearchResultEntry {
		return Pong{}, errNoPong
	}
	attribute := child(child(entry, 1), 0) // the first of the entry's attributes
	value := child(child(attribute, 1), 0) // the first of the attribute's values
	if value == nil || value.Data == nil {
		return Pong{}, errNoPong
	}
	return decodeNetlogon(value.Data.Bytes())
}

// child returns child i of a packet, or nil if there is none.
func child(p *ber.Packet, i int) *ber.Packet {
	if p == nil || i >= len(p.Children) {
		return nil
	}
	return p.Children[i]
}

const (
	opcodeResponseEx = 23
	netlogonHeader   = 24 // opcode, padding, flags, GUID
)

// decodeNetlogon decodes NETLOGON_SAM_LOGON_RESPONSE_EX.
func decodeNetlogon(b []byte) (Pong, error) {
	if len(b) < netlogonHeader || binary.LittleEndian.Uint16(b) != opcodeResponseEx {
		return Pong{}, errors.New("decode pong: unknown response")
	}
	var names [8]string // forest, domain, host, NetBIOS domain, NetBIOS host, user, site, client's site
	offset := netlogonHeader
	for i := range names {
		name, next, ok := decodeName(b, offset)
		if !ok {
			return Pong{}, errors.New("decode pong: truncated")
		}
		names[i], offset = name, next
	}
	return Pong{Forest: names[0], Domain: names[1], Host: names[2], NetBIOSName: names[3], Site: names[6]}, nil
}

// decodeName decodes a name with DNS compression: two bytes whose first two bits
// are set refer to the offset of the rest of the name. It returns the offset after
// the first such reference or, without one, after the name: the next name is there.
func decodeName(b []byte, offset int) (name string, next int, ok bool) {
	var labels []string
	for jumps := 0; offset < len(b); {
		size := int(b[offset])
		switch {
		case size == 0:
			if jumps == 0 {
				next = offset + 1
			}
			return strings.Join(labels, "."), next, true
		case size&0xc0 == 0xc0:
			if offset+1 >= len(b) || jumps > 16 {
				return "", 0, false
			}
			if jumps == 0 {
				next = offset + 2
			}
			jumps++
			offset = (size&0x3f)<<8 | int(b[offset+1])
		case size&0xc0 != 0 || offset+1+size > len(b) || len(labels) > 127:
			return "", 0, false
		default:
			labels = append(labels, string(b[offset+1:offset+1+size]))
			offset += 1 + size
		}
	}
	return "", 0, false
}
