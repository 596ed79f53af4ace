package directory_test

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

func TestPingIsAnsweredForTheServedDomainOnly(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	answer := ping(t, f, "corp.example")
	index := strings.Index(answer, "netlogon")
	if index < 0 || !strings.Contains(answer, "\x04corp\x07example\x00") || !strings.Contains(answer, "\x04CORP\x00") {
		t.Fatalf("answer %q", answer)
	}
	value := answer[index+len("netlogon"):]
	// The first byte 23 is the start of the opcode; what precedes it is BER tags and lengths.
	if op := binary.LittleEndian.Uint16([]byte(value[strings.IndexByte(value, 23):])); op != 23 {
		t.Errorf("opcode %d", op)
	}
	if answer := ping(t, f, "other.example"); answer == "" || strings.Contains(answer, "netlogon") {
		t.Errorf("a ping for a domain that is not served: %q", answer)
	}
}

func ping(t *testing.T, f fixture, domain string) string {
	t.Helper()
	filter, err := ldap.CompileFilter("(&(DnsDomain=" + domain + `)(NtVer=\16\00\00\00))`)
	if err != nil {
		t.Fatal(err)
	}
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchRequest, nil, "")
	op.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, "", ""))
	// scope, aliases, size limit, time limit
	for _, tag := range []ber.Tag{ber.TagEnumerated, ber.TagEnumerated, ber.TagInteger, ber.TagInteger} {
		op.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, tag, 0, ""))
	}
	op.AppendChild(ber.NewBoolean(ber.ClassUniversal, ber.TypePrimitive, ber.TagBoolean, false, ""))
	op.AppendChild(filter)
	attributes := ber.NewSequence("")
	attributes.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, "netlogon", ""))
	op.AppendChild(attributes)
	message := ber.NewSequence("")
	message.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, 1, ""))
	message.AppendChild(op)

	c, err := net.Dial("udp", strings.TrimPrefix(f.URL(), "ldap://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write(message.Bytes()); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	n, err := c.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}
