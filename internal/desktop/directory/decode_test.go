package directory

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/go-ldap/ldap/v3"
)

func TestDecodeSID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ hex, want string }{
		{"010500000000000515000000a065cf7e784b9b5fe77c8770091c0100", "S-1-5-21-2127521184-1604012920-1887927527-72713"},
		{"01020000000000052000000020020000", "S-1-5-32-544"},
		{"0105000000000005", ""},
		{"", ""},
	} {
		raw, err := hex.DecodeString(tt.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeSID(raw); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("decodeSID(%s) = %q %v, want %q", tt.hex, got, err, tt.want)
		}
	}
}

func TestDiagnosticsContainTheCause(t *testing.T) {
	t.Parallel()
	for code, want := range reasons {
		err := ldap.NewError(ldap.LDAPResultInvalidCredentials,
			errors.New("80090308: LdapErr: DSID-0C09044E, comment: AcceptSecurityContext error, data "+code+", v4563\x00"))
		got := refusalOf(err)
		if got == nil || got.Reason != want || got.Counted != (want == WrongCredentials) {
			t.Errorf("refusal of data %s = %+v, want %q", code, got, want)
		}
	}
	withoutCode := refusalOf(ldap.NewError(ldap.LDAPResultInvalidCredentials, errors.New("no")))
	if withoutCode == nil || !withoutCode.Counted {
		t.Error("a refusal without a code is not counted")
	}
	if refusalOf(ldap.NewError(ldap.LDAPResultBusy, errors.New("busy"))) != nil {
		t.Error("a busy controller counts as a refusal")
	}
}

func FuzzDecodePong(f *testing.F) {
	request, err := pingRequest("corp.example")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request)
	f.Add([]byte{0x30, 0x05, 0x02, 0x01, 0x01, 0x64, 0x00}) // an LDAP message with an empty search result entry
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, _ = decodePong(packet) // must not panic
		_, _ = decodeNetlogon(packet)
		_, _ = decodeSID(packet)
	})
}

func TestNamesAreDecompressed(t *testing.T) {
	t.Parallel()
	// In a compressed DNS name, \xc0 and an offset refer to the rest of the name.
	b := []byte("\x04corp\x07example\x00\xc0\x00\x03dc1\xc0\x00\xc0\x10")
	for _, tt := range []struct {
		offset int
		name   string
		next   int
	}{
		{0, "corp.example", 14}, {14, "corp.example", 16}, {16, "dc1.corp.example", 22}, {22, "dc1.corp.example", 24},
	} {
		if name, next, ok := decodeName(b, tt.offset); name != tt.name || next != tt.next || !ok {
			t.Errorf("decodeName at %d = %q, %d, %v; want %q, %d", tt.offset, name, next, ok, tt.name, tt.next)
		}
	}
	loop := []byte("\xc0\x00")
	if _, _, ok := decodeName(loop, 0); ok {
		t.Error("a name that refers to itself was read")
	}
}
