package client

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/atomicfile"
	"vigil/internal/fault"
)

// The servers that a profile may name.
const (
	Posture = ""
	Desktop = "desktop"
)

// A Profile is a server and who we are to it.
type Profile struct {
	Name   string    `yaml:"-"`
	Server string    `yaml:"server,omitempty"` // Posture or Desktop
	URL    string    `yaml:"url"`
	Token  string    `yaml:"token"`            // the API token; of a desktop server the refresh token, or a read-only key
	Key    bool      `yaml:"key,omitempty"`    // the token is a read-only key of a desktop server
	CA     string    `yaml:"ca,omitempty"`     // file with the certificate that vouches for the server; the machine's when empty
	Access string    `yaml:"access,omitempty"` // the access token that was had last
	Ends   time.Time `yaml:"ends,omitempty"`   // when it does
}

// Profiles is the file that profiles are kept in. Only its owner can read it: API
// tokens are in it.
type Profiles struct {
	Current        string             `yaml:"current"`
	CurrentDesktop string             `yaml:"current_desktop,omitempty"`
	All            map[string]Profile `yaml:"profiles"`
	file           string
}

// File returns where profiles are kept unless somebody says otherwise.
func File() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "there is no folder for settings of this user; set HOME or VIGIL_PROFILES")
	}
	return filepath.Join(dir, "vigil", "profiles.yaml"), nil
}

// ReadProfiles reads the profiles of a file. One that does not exist has none.
func ReadProfiles(file string) (*Profiles, error) {
	p := &Profiles{file: file, All: map[string]Profile{}}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(fault.Invalid, "others can read %s, which holds API tokens; run chmod 600 on it, and make new tokens", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(text, p); err != nil {
		return nil, fault.New(fault.Invalid, "%s cannot be read: %v", file, err)
	}
	if p.All == nil {
		p.All = map[string]Profile{}
	}
	return p, nil
}

// loginCommand is the command that makes a profile of a server.
func loginCommand(server string) string {
	if server == Desktop {
		return "vigil desktop login URL"
	}
	return "vigil login URL"
}

// Get returns the profile of a name, or the current one of a server.
func (p *Profiles) Get(server, name string) (Profile, error) {
	if name == "" {
		name = p.Current
		if server == Desktop {
			name = p.CurrentDesktop
		}
	}
	found, ok := p.All[name]
	switch {
	case name == "":
		return found, fault.New(fault.Unauthenticated, "no server is known; run %s", loginCommand(server))
	case !ok:
		return found, fault.New(fault.NotFound, "there is no profile %q; see vigil profiles", name)
	case found.Server != server:
		return found, fault.New(fault.Invalid, "profile %q is of the other server: vigil desktop calls desktop servers, the other commands posture servers; see vigil profiles", name)
	}
	found.Name = name
	return found, nil
}

// Use makes a profile the current one of its server.
func (p *Profiles) Use(name string) error {
	found, ok := p.All[name]
	if !ok {
		return fault.New(fault.NotFound, "there is no profile %q; see vigil profiles", name)
	}
	p.choose(found.Server, name)
	return p.write()
}

// Login keeps a profile and makes it the current one of its server.
func (p *Profiles) Login(one Profile) error {
	p.choose(one.Server, one.Name)
	return p.Put(one)
}

func (p *Profiles) choose(server, name string) {
	if server == Desktop {
		p.CurrentDesktop = name
	} else {
		p.Current = name
	}
}

// Put keeps a profile. The file is replaced whole, so that one that is interrupted
// loses nothing.
func (p *Profiles) Put(one Profile) error {
	p.All[one.Name] = one
	return p.write()
}

// Remove forgets a profile.
func (p *Profiles) Remove(name string) error {
	delete(p.All, name)
	if p.Current == name {
		p.Current = ""
	}
	if p.CurrentDesktop == name {
		p.CurrentDesktop = ""
	}
	return p.write()
}

func (p *Profiles) write() error {
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteBytes(p.file, 0o600, text)
}

// CheckURL returns the address of a server in its plain form. Plain HTTP is taken
// for this machine only: a token must not cross a network in the clear.
func CheckURL(address string) (string, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return "", fault.New(fault.Invalid, "%q is not the address of a server, such as https://vigil.example:8443", address)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fault.New(fault.Invalid, "the token would cross the network in the clear; use https for %s", u.Host)
	}
	return u.String(), nil
}
