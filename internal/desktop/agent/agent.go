// Package agent runs on a Linux session host and reports its load, sessions and
// state to the desktop server.
//
// All values are measured: load from /proc, sessions from the login manager or
// utmp, and the state from the host (logins disabled, RDP listener down). The
// load index is the highest of three percentages: processor time used since the
// last report, memory in use, and runnable processes per processor.
package agent

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
)

// Options configure an agent.
type Options struct {
	Server     string // https URL of the desktop server
	CAFile     string // PEM file of the authority of the server's certificate; when empty, the system's roots
	Thumbprint string // SHA-256 of the server's certificate, accepted regardless of its issuer
	Token      string // enrolment token, needed for the first start
	StateDir   string // folder of key and certificate
	RDPAddress string // host:port of the RDP listener to check; empty for none

	Version string
	Build   string
	Root    fs.FS            // root file system to read; nil for that of this machine
	Now     func() time.Time // time.Now when nil
	Log     *slog.Logger
}

func (o Options) validate() error {
	switch {
	case o.Server == "":
		return errors.New("the option Server is missing")
	case o.StateDir == "":
		return errors.New("the option StateDir is missing")
	case o.Log == nil:
		return errors.New("the option Log is missing")
	}
	return nil
}

// Run enrols the machine if it is not enrolled yet, and reports until ctx is
// done. It returns earlier only after an error that retrying cannot solve.
func Run(ctx context.Context, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.Root == nil {
		o.Root = os.DirFS("/")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	trust, err := o.trust()
	if err != nil {
		return err
	}
	h := &host{root: o.Root, rdp: o.RDPAddress}
	m := heartbeat.NewMachine()
	m.Server, m.Trust, m.Token = o.Server, trust, strings.TrimSpace(o.Token)
	m.CredentialStore = credentialStore{dir: o.StateDir}
	m.Now, m.Log = o.Now, o.Log
	m.Report = func(ctx context.Context, s heartbeat.Stamp) (any, error) {
		beat, err := h.sample(ctx)
		beat.AgentVersion, beat.AgentBuild = o.Version, o.Build
		return heartbeat.AgentReport{Stamp: s, AgentBeat: beat}, err
	}
	return m.Run(ctx)
}

func (o Options) trust() (heartbeat.ServerTrust, error) {
	t := heartbeat.ServerTrust{Thumbprint: o.Thumbprint}
	if o.CAFile == "" {
		return t, nil
	}
	text, err := os.ReadFile(o.CAFile)
	if err != nil {
		return t, fmt.Errorf("read the CA file: %w", err)
	}
	t.Roots = x509.NewCertPool()
	if !t.Roots.AppendCertsFromPEM(text) {
		return t, fmt.Errorf("%s contains no PEM certificate", o.CAFile)
	}
	return t, nil
}

// host reads the measurements of a machine.
type host struct {
	root fs.FS
	rdp  string
	last times // processor times of the previous sample
}

// sample takes one sample of the machine.
func (h *host) sample(ctx context.Context) (desktop.AgentBeat, error) {
	load, err := h.load()
	if err != nil {
		return desktop.AgentBeat{}, err
	}
	sessions, err := countSessions(h.root)
	if err != nil {
		return desktop.AgentBeat{}, err
	}
	state, problems := h.state(ctx)
	return desktop.AgentBeat{
		OperatingSystem: operatingSystem(h.root),
		State:           state,
		LoadIndex:       &load,
		SessionCount:    sessions,
		Problems:        problems,
	}, nil
}
