package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// desktopFlags select the desktop server that a command calls.
type desktopFlags struct {
	Profile  string `env:"VIGIL_DESKTOP_PROFILE" completes:"desktop-profiles" placeholder:"NAME" help:"Profile of the desktop server; see vigil profiles. Default: the current one."`
	Profiles string `env:"VIGIL_PROFILES" placeholder:"FILE" help:"File with the profiles."`
}

// desktopListFlags are the flags of commands that print records of a desktop server.
type desktopListFlags struct {
	desktopFlags
	Output string `short:"o" enum:"table,json,yaml,csv" default:"table" help:"Output format: table, json, yaml or csv."`
}

// client returns a client for the selected server. VIGIL_DESKTOP_URL and
// VIGIL_DESKTOP_KEY replace a profile, for CI pipelines.
func (f desktopFlags) client() (*client.Client, error) {
	if address, key := os.Getenv("VIGIL_DESKTOP_URL"), os.Getenv("VIGIL_DESKTOP_KEY"); f.Profile == "" && address != "" && key != "" {
		address, err := client.CheckURL(address)
		if err != nil {
			return nil, err
		}
		p := client.Profile{Name: "environment", Server: client.Desktop, URL: address, Token: key, Key: true, CA: os.Getenv("VIGIL_CA")}
		return client.New(p, client.Options{Version: version})
	}
	profiles, err := profileFlags{Profiles: f.Profiles}.file()
	if err != nil {
		return nil, err
	}
	p, err := profiles.Get(client.Desktop, f.Profile)
	if err != nil {
		return nil, err
	}
	return client.New(p, client.Options{Save: profiles.Renew, Version: version})
}

// records returns the records of a list.
func (f desktopFlags) records(e *environment, path string, query url.Values) ([]client.Record, error) {
	to, err := f.client()
	if err != nil {
		return nil, err
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var all []client.Record
	err = to.Call(e.ctx, http.MethodGet, path, nil, &all)
	return all, err
}

// change calls an operation that changes something and returns its record, if it has
// one.
func (f desktopFlags) change(e *environment, method, path string, in any) (client.Record, error) {
	to, err := f.client()
	if err != nil {
		return nil, err
	}
	var answer client.Record
	err = to.Call(e.ctx, method, path, in, &answer)
	return answer, err
}

// print prints records.
func (f desktopListFlags) print(e *environment, columns string, all []client.Record) error {
	return client.Render(e.stdout, f.Output, client.Columns(columns), f.readable(all))
}

// readable returns records with readable times and reasons. Formats that print whole records get them
// unchanged.
func (f desktopListFlags) readable(records []client.Record) []client.Record {
	if f.Output == "json" || f.Output == "yaml" {
		return records
	}
	all := make([]client.Record, len(records))
	for i, r := range records {
		all[i] = maps.Clone(r)
		for _, member := range []string{"since", "resolved_at", "created_at", "last_used_at", "expires_at"} {
			var millis desktop.Millis
			if _, err := fmt.Sscan(client.Text(r, member), &millis); err == nil && millis > 0 {
				all[i][member] = millis.Time().Format(time.RFC3339)
			}
		}
		if reasons, ok := r["reasons"].([]any); ok {
			var text []string
			for _, each := range reasons {
				text = append(text, fmt.Sprint(each))
			}
			all[i]["reasons"] = strings.Join(text, "; ")
		}
	}
	return all
}

type desktopLoginCmd struct {
	Profiles     string `env:"VIGIL_PROFILES" placeholder:"FILE" help:"File with the profiles."`
	URL          string `arg:"" help:"Address of the desktop server, such as https://desktop.example:8444."`
	User         string `placeholder:"DOMAIN\\USER" help:"Your user in the directory."`
	PasswordFile string `type:"existingfile" placeholder:"FILE" help:"File with the password. Default: standard input."`
	KeyFile      string `type:"existingfile" placeholder:"FILE" help:"File with a read-only key instead of a user; create one in the console under monitoring keys."`
	CA           string `name:"ca" type:"existingfile" placeholder:"FILE" help:"Certificate authority of the server, if the machine does not trust it."`
	Name         string `default:"desktop" help:"Name of the profile to save."`
}

// Run implements the command. The password is not a flag, because other users of the
// machine can see flags.
func (c *desktopLoginCmd) Run(e *environment) error {
	address, err := client.CheckURL(c.URL)
	if err != nil {
		return err
	}
	profiles, err := profileFlags{Profiles: c.Profiles}.file()
	if err != nil {
		return err
	}
	p := client.Profile{Name: c.Name, Server: client.Desktop, URL: address, CA: c.CA}
	if c.KeyFile != "" {
		err = c.withKey(e, p, profiles)
	} else {
		err = c.withPassword(e, p, profiles)
	}
	if err == nil {
		fmt.Fprintf(e.stdout, "logged in to %s as profile %s\n", address, c.Name)
	}
	return err
}

func (c *desktopLoginCmd) withPassword(e *environment, p client.Profile, profiles *client.Profiles) error {
	domain, user, ok := strings.Cut(c.User, `\`)
	if !ok || domain == "" || user == "" {
		return fault.New(fault.Invalid, `give --user 'DOMAIN\USER', or --key-file with a read-only key`)
	}
	password, err := readSecret(e, c.PasswordFile, "password", "give it on standard input or with --password-file")
	if err != nil {
		return err
	}
	to, err := client.New(p, client.Options{Save: profiles.Login, Version: version})
	if err != nil {
		return err
	}
	return to.LoginDesktop(e.ctx, client.Credentials{Domain: domain, User: user, Password: password})
}

// withKey saves a profile with a key if the server accepts it.
func (c *desktopLoginCmd) withKey(e *environment, p client.Profile, profiles *client.Profiles) error {
	if c.User != "" || c.PasswordFile != "" {
		return fault.New(fault.Invalid, "give --key-file or --user, not both")
	}
	key, err := readSecret(e, c.KeyFile, "read-only key", "the console makes one under monitoring keys")
	if err != nil {
		return err
	}
	p.Token, p.Key = strings.TrimSpace(key), true
	to, err := client.New(p, client.Options{Version: version})
	if err != nil {
		return err
	}
	if err := to.Call(e.ctx, http.MethodGet, "/rest/monitor/pulse", nil, nil); err != nil {
		return err
	}
	return profiles.Login(p)
}

type desktopLogoutCmd struct{ desktopFlags }

// Run implements the command. If the session cannot be ended, it keeps the profile, so
// that the user can retry.
func (c *desktopLogoutCmd) Run(e *environment) error {
	profiles, err := profileFlags{Profiles: c.Profiles}.file()
	if err != nil {
		return err
	}
	p, err := profiles.Get(client.Desktop, c.Profile)
	if err != nil {
		return err
	}
	if !p.Key {
		to, err := client.New(p, client.Options{Version: version})
		if err != nil {
			return err
		}
		if err := to.LogoutDesktop(e.ctx); err != nil && !fault.Is(err, fault.Invalid) { // invalid: the session has expired
			return err
		}
	}
	if err := profiles.Remove(p.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "logged out of %s and deleted profile %s\n", p.URL, p.Name)
	return nil
}

type desktopAPICmd struct {
	desktopFlags
	Method string `arg:"" enum:"GET,POST,PUT,PATCH,DELETE" help:"GET, POST, PUT, PATCH or DELETE."`
	Path   string `arg:"" help:"Path of the operation, such as /rest/monitor/farms; see /docs/api of the server."`
	Data   string `short:"d" help:"JSON to send; @FILE reads a file."`
}

// Run implements the command.
func (c *desktopAPICmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	return callAny(e, to, c.Method, c.Path, c.Data)
}
