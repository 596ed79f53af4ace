package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/terminal"
)

// profileFlags select the server that a command calls.
type profileFlags struct {
	Profile  string `env:"VIGIL_PROFILE" completes:"profiles" placeholder:"NAME" help:"Profile of the server; see vigil profiles. Default: the current one."`
	Profiles string `env:"VIGIL_PROFILES" placeholder:"FILE" help:"File with the profiles."`
}

// listFlags are the flags of commands that print records.
type listFlags struct {
	profileFlags
	Output string `short:"o" enum:"table,json,yaml,csv" default:"table" help:"Output format: table, json, yaml or csv."`
}

// file reads the file of profiles.
func (f profileFlags) file() (*client.Profiles, error) {
	name := f.Profiles
	if name == "" {
		var err error
		if name, err = client.File(); err != nil {
			return nil, err
		}
	}
	return client.ReadProfiles(name)
}

// client returns a client for the selected server. VIGIL_URL and VIGIL_TOKEN replace a
// profile, for CI pipelines.
func (f profileFlags) client() (*client.Client, error) {
	if address, token := os.Getenv("VIGIL_URL"), os.Getenv("VIGIL_TOKEN"); f.Profile == "" && address != "" && token != "" {
		address, err := client.CheckURL(address)
		if err != nil {
			return nil, err
		}
		return client.New(client.Profile{Name: "environment", URL: address, Token: token, CA: os.Getenv("VIGIL_CA")}, client.Options{Version: version})
	}
	profiles, err := f.file()
	if err != nil {
		return nil, err
	}
	p, err := profiles.Get(client.Posture, f.Profile)
	if err != nil {
		return nil, err
	}
	return client.New(p, client.Options{Save: profiles.Renew, Version: version})
}

// call calls an operation of the selected server that returns one record.
func (f profileFlags) call(e *environment, method, path string, in any) (client.Record, error) {
	to, err := f.client()
	if err != nil {
		return nil, err
	}
	var answer client.Record
	err = to.Call(e.ctx, method, path, in, &answer)
	return answer, err
}

type loginCmd struct {
	profileFlags
	URL       string `arg:"" help:"Address of the posture server, such as https://vigil.example:8443."`
	TokenFile string `xor:"token" type:"existingfile" placeholder:"FILE" help:"File with the API token. Default: standard input."`
	CA        string `name:"ca" type:"existingfile" placeholder:"FILE" help:"Certificate authority of the server, if the machine does not trust it."`
	Name      string `default:"default" help:"Name of the profile to save."`
	Browser   bool   `xor:"token" help:"Log in through the console: confirm the printed code there. The token is valid for 30 days."`
}

// Run implements the command. The token is not a flag, because other users of the
// machine can see flags.
func (c *loginCmd) Run(e *environment) error {
	address, err := client.CheckURL(c.URL)
	if err != nil {
		return err
	}
	var token string
	if c.Browser {
		token, err = c.browserToken(e, address)
	} else {
		token, err = c.token(e)
	}
	if err != nil {
		return err
	}
	profiles, err := c.file()
	if err != nil {
		return err
	}
	checked, err := client.New(client.Profile{Name: c.Name, URL: address, Token: token, CA: c.CA}, client.Options{Save: profiles.Login, Version: version})
	if err != nil {
		return err
	}
	if err := checked.Login(e.ctx); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "logged in to %s as profile %s\n", address, c.Name)
	return nil
}

func (c *loginCmd) token(e *environment) (string, error) {
	token, err := readSecret(e, c.TokenFile, "API token", "make one in the console or with vigil admin token create, or log in with --browser")
	return strings.TrimSpace(token), err
}

// maxSecret is the maximum length of secrets that are read from files and standard input.
const maxSecret = 64 << 10

func errLongSecret() error {
	return fault.New(fault.Invalid, "the secret is longer than 64 KiB")
}

// readSecret reads a line of a file or of standard input. On a terminal it prompts and
// does not echo.
func readSecret(e *environment, file, what, hint string) (string, error) {
	in := e.stdin
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	} else if terminal.Is(e.stderr) {
		fmt.Fprint(e.stderr, what+": ")
		defer fmt.Fprintln(e.stderr)
		defer terminal.HideTyping(in)()
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxSecret+1)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fault.Wrap(fault.Invalid, err, "the %s cannot be read; %s", what, hint)
	}
	if len(line) > maxSecret {
		return "", errLongSecret()
	}
	secret := strings.TrimRight(line, "\r\n")
	if secret == "" {
		return "", fault.New(fault.Invalid, "no %s was given; %s", what, hint)
	}
	return secret, nil
}

type logoutCmd struct{ profileFlags }

// Run implements the command.
func (c *logoutCmd) Run(e *environment) error {
	profiles, err := c.file()
	if err != nil {
		return err
	}
	p, err := profiles.Get(client.Posture, c.Profile)
	if err != nil {
		return err
	}
	if err := profiles.Remove(p.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "deleted profile %s; if its token is no longer used, revoke it with vigil admin token revoke\n", p.Name)
	return nil
}

type profilesCmd struct {
	profileFlags
	Use string `completes:"all-profiles" placeholder:"NAME" help:"Make this the current profile of its server."`
}

// Run implements the command.
func (c *profilesCmd) Run(e *environment) error {
	profiles, err := c.file()
	if err != nil {
		return err
	}
	if c.Use != "" {
		return profiles.Use(c.Use)
	}
	var all []client.Record
	for _, name := range slices.Sorted(maps.Keys(profiles.All)) {
		mark := ""
		if name == profiles.Current || name == profiles.CurrentDesktop {
			mark = "*"
		}
		p := profiles.All[name]
		all = append(all, client.Record{"current": mark, "name": name, "kind": cmp.Or(p.Server, "posture"), "url": p.URL})
	}
	return client.Render(e.stdout, "table", client.Columns("CURRENT=current NAME=name KIND=kind SERVER=url"), all)
}

// list prints a paginated list.
func (f listFlags) list(e *environment, path, key, columns string, query client.Record, limit int) ([]client.Record, error) {
	if limit < 1 {
		return nil, fault.New(fault.Invalid, "--limit must be at least 1")
	}
	c, err := f.client()
	if err != nil {
		return nil, err
	}
	all, total, err := c.List(e.ctx, path, key, query, limit)
	if err != nil {
		return nil, err
	}
	if len(all) < total {
		fmt.Fprintf(e.stderr, "%d of %d; --limit prints more\n", len(all), total)
	}
	return all, client.Render(e.stdout, f.Output, client.Columns(columns), all)
}

// get prints the records under a key of a response, or the response itself if the key
// is "".
func (f listFlags) get(e *environment, method, path, key, columns string, in any) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	var answer client.Record
	if err := c.Call(e.ctx, method, path, in, &answer); err != nil {
		return err
	}
	all := []client.Record{answer}
	if key != "" {
		all = client.Records(answer, key)
	}
	return client.Render(e.stdout, f.Output, client.Columns(columns), all)
}

// endAfter returns the time at which a duration from now ends, or the zero time if the flag was not given. A duration of
// zero or less is an error: it must not count as no end.
func endAfter(flag string, d *time.Duration) (time.Time, error) {
	switch {
	case d == nil:
		return time.Time{}, nil
	case *d <= 0:
		return time.Time{}, fault.New(fault.Invalid, "%s must be longer than zero, such as 720h, not %s", flag, *d)
	}
	return time.Now().Add(*d), nil
}

// wait sleeps for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
