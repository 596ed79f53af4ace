package client

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/atomicfile"
	"vigil/internal/fault"
)

// Values of Profile.Server.
const (
	Posture = ""
	Desktop = "desktop"
)

// A Profile is a server with the credentials for it.
type Profile struct {
	Name   string    `yaml:"-"`
	Server string    `yaml:"server,omitempty"` // Posture or Desktop
	URL    string    `yaml:"url"`
	Token  string    `yaml:"token"`            // the API token; of a desktop server the refresh token, or a read-only key
	Key    bool      `yaml:"key,omitempty"`    // the token is a read-only key of a desktop server
	CA     string    `yaml:"ca,omitempty"`     // file with the certificate of the server's authority; the system's when empty
	Access string    `yaml:"access,omitempty"` // the latest access token
	Ends   time.Time `yaml:"ends,omitempty"`   // when the access token expires
}

// Profiles is the file of profiles. Only its owner may read it, because it
// contains API tokens.
type Profiles struct {
	Current        string             `yaml:"current"`
	CurrentDesktop string             `yaml:"current_desktop,omitempty"`
	All            map[string]Profile `yaml:"profiles"`
	file           string
}

// File returns the default path of the profiles.
func File() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "this user has no configuration folder; set HOME or VIGIL_PROFILES")
	}
	return filepath.Join(dir, "vigil", "profiles.yaml"), nil
}

// ReadProfiles reads the profiles in a file. A missing file has none.
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
		return nil, fault.New(fault.Invalid, "other users can read %s, which contains API tokens; run chmod 600 on it and create new tokens", file)
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

// loginCommand returns the command that creates a profile of a server.
func loginCommand(server string) string {
	if server == Desktop {
		return "vigil desktop login URL"
	}
	return "vigil login URL"
}

// Get returns the profile with a name. If the name is empty, it returns the current
// profile for the kind of server (Posture or Desktop).
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
		return found, fault.New(fault.Invalid, "profile %q is for the other server: vigil desktop calls desktop servers, the other commands posture servers; see vigil profiles", name)
	}
	found.Name = name
	return found, nil
}

// Use makes a profile the current one for its kind of server.
func (p *Profiles) Use(name string) error {
	return p.update(func() error {
		found, ok := p.All[name]
		if !ok {
			return fault.New(fault.NotFound, "there is no profile %q; see vigil profiles", name)
		}
		p.choose(found.Server, name)
		return nil
	})
}

// Login stores a profile and makes it the current one for its kind of server.
func (p *Profiles) Login(profile Profile) error {
	return p.update(func() error {
		p.choose(profile.Server, profile.Name)
		p.All[profile.Name] = profile
		return nil
	})
}

func (p *Profiles) choose(server, name string) {
	if server == Desktop {
		p.CurrentDesktop = name
	} else {
		p.Current = name
	}
}

// Renew stores the access token of a profile, unless the profile was removed or replaced by another login meanwhile.
func (p *Profiles) Renew(profile Profile) error {
	return p.update(func() error {
		if stored := p.All[profile.Name]; stored.URL == profile.URL && stored.Token == profile.Token {
			p.All[profile.Name] = profile
		}
		return nil
	})
}

// Remove removes a profile.
func (p *Profiles) Remove(name string) error {
	return p.update(func() error {
		delete(p.All, name)
		if p.Current == name {
			p.Current = ""
		}
		if p.CurrentDesktop == name {
			p.CurrentDesktop = ""
		}
		return nil
	})
}

// update changes the profiles and replaces the file atomically. It reads the file again first, and holds a lock meanwhile, so that
// changes of other processes are kept.
func (p *Profiles) update(change func() error) (err error) {
	if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err != nil {
		return err
	}
	unlock, err := lock(p.file + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	stored, err := ReadProfiles(p.file)
	if err != nil {
		return err
	}
	*p = *stored
	if err := change(); err != nil {
		return err
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(p.file, 0o600, text)
}

// lock waits for the lock of a file, and returns a function that releases it. The operating system also releases it when the process
// ends. The file of profiles itself cannot be locked, because each change replaces it.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		switch {
		case err == nil:
			return f.Close, nil
		case !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(&fs.PathError{Op: "lock", Path: file, Err: err}, f.Close())
		}
	}
}

// CheckURL returns the normalised address of a server. Plain HTTP is accepted
// only for loopback: a token must not be sent unencrypted over a network.
func CheckURL(address string) (string, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return "", fault.New(fault.Invalid, "%q is not the address of a server, such as https://vigil.example:8443", address)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fault.New(fault.Invalid, "the token would be sent unencrypted; use https for %s", u.Host)
	}
	return u.String(), nil
}
