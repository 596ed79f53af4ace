package inventory

import (
	"encoding/hex"
	"encoding/pem"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"vigil/internal/desktop"
)

// namespace is the UUID namespace of derived ids. It must never change: another
// namespace would change every derived id.
var namespace = uuid.MustParse("6c2f6b1e-2d1f-5f0c-9a55-7d6f0a6f3c11")

// DeriveID returns the id of a component for which the inventory has none.
func DeriveID(k desktop.Kind, name string) desktop.ID {
	return desktop.ID(uuid.NewSHA1(namespace, []byte(string(k)+"/"+strings.ToLower(name))).String())
}

// A builder converts the file to an inventory and collects its errors.
type builder struct {
	*reader
	options Options
	names   map[string]string     // kind and name -> path of its first use
	ids     map[desktop.ID]string // id -> path of its first use
}

// identify checks the name of the component at path, and returns the component's id.
// key is the key of the name in the file.
func (b *builder) identify(k desktop.Kind, path, key, name, givenID string) desktop.ID {
	if b.require(path, key, name) {
		kindAndName := string(k) + "/" + strings.ToLower(name)
		if first, ok := b.names[kindAndName]; ok {
			b.addError(path+"."+key, "is %q, which %s already has", name, first)
			return ""
		}
		b.names[kindAndName] = path
	}
	id := b.idOrDerived(path, givenID, DeriveID(k, name))
	// Components whose required name is missing share a derived id; that they lack a name is reported above.
	if first, ok := b.ids[id]; ok && name != "" {
		b.addError(path+".id", "is already the id of %s", first)
	}
	b.ids[id] = path
	return id
}

// idOrDerived returns the id that the file gives, or the derived one if it gives none.
func (b *builder) idOrDerived(path, givenID string, derived desktop.ID) desktop.ID {
	if givenID == "" {
		return derived
	}
	parsed, err := uuid.Parse(givenID)
	if err != nil || len(givenID) != 36 { // Parse also accepts forms of other lengths
		b.addError(path+".id", "must be a UUID")
	}
	return desktop.ID(parsed.String())
}

// require reports an error if a value is missing. It returns whether the value
// is present.
func (b *builder) require(path, key, value string) bool {
	if value == "" {
		b.addError(strings.TrimPrefix(path+"."+key, "."), "is required")
	}
	return value != ""
}

// oneOf returns the allowed value that equals value, ignoring case.
func oneOf[T ~string](b *builder, path, key, value string, allowed ...T) T {
	i := slices.IndexFunc(allowed, func(a T) bool { return strings.EqualFold(string(a), value) })
	if i >= 0 {
		return allowed[i]
	}
	words := make([]string, len(allowed))
	for j, a := range allowed {
		words[j] = string(a)
	}
	if b.require(path, key, value) {
		b.addError(path+"."+key, "must be one of %s", strings.Join(words, ", "))
	}
	return ""
}

// between checks a number that the file may leave out.
func (b *builder) between(path string, n, low, high int) {
	if b.isSet(path) && (n < low || n > high) {
		b.addError(path, "must be between %d and %d", low, high)
	}
}

// secret checks a reference to a secret.
func (b *builder) secret(path, ref string) desktop.SecretRef {
	scheme, rest, ok := strings.Cut(ref, ":")
	if ref != "" && (!ok || rest == "" || !slices.Contains(schemes, scheme)) {
		// The message does not repeat the value: it may be the secret itself.
		b.addError(path, "must be a reference to the secret (file:, env: or vault:), not the secret itself")
		return ""
	}
	return desktop.SecretRef(ref)
}

// login checks a username and the reference to its password.
func (b *builder) login(path string, l loginFile) desktop.SecretRef {
	b.require(path, "username", l.Username)
	b.require(path, "password", l.Password)
	return b.secret(path+".password", l.Password)
}

// trust checks the settings for verifying a certificate.
func (b *builder) trust(path string, t tlsFile) desktop.Trust {
	digits := strings.ToLower(strings.ReplaceAll(t.Thumbprint, ":", ""))
	if raw, err := hex.DecodeString(digits); digits != "" && (err != nil || len(raw) != 32) {
		b.addError(path+".thumbprint", "must be the SHA-256 of a certificate, 64 hex digits")
	}
	if t.CAFile != "" && t.CAPEM != "" {
		b.addError(path+".ca_pem", "must not be set together with ca_file")
	}
	if t.CAPEM != "" {
		if block, _ := pem.Decode([]byte(t.CAPEM)); block == nil || block.Type != "CERTIFICATE" {
			b.addError(path+".ca_pem", "must be a certificate in PEM form")
		}
	}
	return desktop.Trust{CAFile: t.CAFile, CAPEM: t.CAPEM, Thumbprint: digits}
}

// https checks the address of a web server.
func (b *builder) https(path, key, text string) {
	if !b.require(path, key, text) {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || !validPort(u.Port(), portOptional) {
		b.addError(path+"."+key, "must be an https:// address without credentials")
	}
}

// The values of a parameter isPortOptional.
const (
	portRequired = false
	portOptional = true
)

// address checks a host:port, or, if the port is optional, a host.
func (b *builder) address(path, text string, isPortOptional bool) {
	host, port, err := net.SplitHostPort(text)
	if err != nil && isPortOptional && !strings.Contains(text, ":") {
		host, port, err = text, "", nil
	}
	if err != nil || host == "" || strings.ContainsAny(host, " /@") || !validPort(port, isPortOptional) {
		form := "host:port"
		if isPortOptional {
			form = "host or host:port"
		}
		b.addError(path, "must be %s", form)
	}
}

func validPort(port string, isPortOptional bool) bool {
	n, err := strconv.Atoi(port)
	return port == "" && isPortOptional || err == nil && n > 0 && n < 1<<16
}

// dnsLabel matches a label of a DNS name: up to 63 characters, of which the first and the last
// are no hyphens.
const dnsLabel = `[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`

var (
	dnsName     = regexp.MustCompile(`^` + dnsLabel + `(\.` + dnsLabel + `)*$`)
	sidPattern  = regexp.MustCompile(`^S-1-[0-9]{1,14}(-[0-9]{1,10}){1,15}$`)
	tablePrefix = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]{0,40})?$`)
)

// sid checks an optional security identifier.
func (b *builder) sid(path, text string) {
	if text != "" && !sidPattern.MatchString(text) {
		b.addError(path, "must be a security identifier, such as S-1-5-21-1-2-3")
	}
}

// isEnabled returns the value of a switch that is on by default.
func isEnabled(p *bool) bool { return p == nil || *p }
