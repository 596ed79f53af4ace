package directory

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Domain describes a simulated directory domain.
type Domain struct {
	DNSName string // corp.example
	NetBIOS string // CORP
	SID     string // S-1-5-21-...
	Forest  string // DNS name of the forest; DNSName when empty
	Host    string // name of the controller; dc1 when empty

	Users     []User
	Groups    []Group
	Trusts    []Trust
	Templates []Template
	Issuers   []Issuer
	OUs       []string // names of organisational units below the root

	LockoutThreshold int           // bad passwords that lock an account; 0 is never
	LockoutWindow    time.Duration // time after which bad passwords are forgotten, and duration of the lock; 30 min when zero
}

// User is an account of the domain.
type User struct {
	Name       string // sAMAccountName
	Password   string
	Groups     []string // direct memberships, by name
	Disabled   bool
	Expired    bool
	MustChange bool
	JoinsTo    []string // organisational units in which it may create computer accounts

	PrincipalName string // userPrincipalName; Name@DNSName when empty

	// ForeignSID is the SID of a user of another domain of the forest, who can bind with
	// PrincipalName but has no entry in this domain.
	ForeignSID string
}

// Group is a security group of the domain.
type Group struct {
	Name   string
	Groups []string // groups it is a member of, by name
}

// Trust is a trustedDomain object, with the directory's numeric values.
type Trust struct {
	Partner    string // DNS name
	NetBIOS    string
	SID        string
	Direction  int // 1 inbound, 2 outbound, 3 both
	Type       int // 1 downlevel, 2 uplevel
	Attributes int // 0x20 within the forest, 0x8 forest transitive
}

// Template is a certificate template.
type Template struct {
	Name    string
	Usages  []string // extended key usage OIDs
	KeySize int
}

// Issuer is an enterprise certificate authority that the directory publishes.
type Issuer struct {
	Name        string
	Host        string
	Certificate []byte // DER
	Templates   []string
}

// SmartCardLogon is the key usage that a template for single sign-on needs.
const SmartCardLogon = "1.3.6.1.4.1.311.20.2.2"

// GroupSID returns the SID of a group of the domain.
func (d Domain) GroupSID(name string) string {
	for i, g := range d.Groups {
		if strings.EqualFold(g.Name, name) {
			return d.SID + "-" + strconv.Itoa(firstGroupRID+i)
		}
	}
	return ""
}

// Root returns the distinguished name of the domain's root.
func (d Domain) Root() string { return "DC=" + strings.ReplaceAll(d.DNSName, ".", ",DC=") }

func (d Domain) forest() string {
	if d.Forest == "" {
		return d.DNSName
	}
	return d.Forest
}

func (d Domain) configuration() string {
	return "CN=Configuration,DC=" + strings.ReplaceAll(d.forest(), ".", ",DC=")
}

func (d Domain) host() string {
	if d.Host == "" {
		return "dc1"
	}
	return d.Host
}

const (
	firstGroupRID = 1200
	firstUserRID  = 2000
	usersRID      = 513 // Domain Users, the primary group of every user
)

// account is a user with the state of its logins.
type account struct {
	User
	dn       string
	token    []string // binary SIDs: the user's own and those of all groups
	bad      int
	badAt    time.Time
	lockedAt time.Time
}

// domain is a Domain with its entries, and its accounts by lower-case name.
type domain struct {
	Domain
	entries  []*entry
	accounts map[string]*account
}

func (d *domain) account(name string) *account { return d.accounts[strings.ToLower(name)] }

func (d *domain) window() time.Duration {
	if d.LockoutWindow == 0 {
		return 30 * time.Minute
	}
	return d.LockoutWindow
}

func (d *domain) isLocked(a *account, now time.Time) bool {
	return !a.lockedAt.IsZero() && now.Sub(a.lockedAt) < d.window()
}

// memberships returns the names of all groups that are reachable from the given
// ones. Memberships may be cyclic.
func (d *domain) memberships(direct []string) []string {
	var all []string
	for queue := slices.Clone(direct); len(queue) > 0; queue = queue[1:] {
		for _, g := range d.Groups {
			if strings.EqualFold(g.Name, queue[0]) && !slices.Contains(all, g.Name) {
				all = append(all, g.Name)
				queue = append(queue, g.Groups...)
			}
		}
	}
	return all
}

// sid returns the binary form of a SID, empty if the text is not a SID.
func sid(text string) string {
	parts := strings.Split(text, "-")
	if len(parts) < 3 || parts[0] != "S" {
		return ""
	}
	subs := parts[3:]
	b := []byte{1, byte(len(subs)), 0, 0, 0, 0, 0, 0} // revision, number of subs, authority
	authority, _ := strconv.ParseUint(parts[2], 10, 48)
	for i := range 6 {
		b[2+i] = byte(authority >> (8 * (5 - i)))
	}
	for _, sub := range subs {
		n, _ := strconv.ParseUint(sub, 10, 32)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return string(b)
}

// guid derives an entry's objectGUID from its name, so that it is the same in
// every run.
func guid(dn string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(dn)))
	return string(sum[:16])
}

// interval returns a duration in the directory's format: negative, in units of
// 100 ns.
func interval(d time.Duration) string { return fmt.Sprintf("-%d", d.Nanoseconds()/100) }
