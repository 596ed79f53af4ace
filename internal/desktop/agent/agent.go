// Package agent runs on a Linux session host and reports its load, its sessions
// and its state to the desktop server.
//
// Nothing is estimated: load comes from /proc, sessions from the login manager
// or utmp, the state from what the host itself says (logins barred, RDP listener
// gone). The load index is the highest of three percentages: processor time
// used since the last report, memory in use, and processes waiting per
// processor.
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

// Options say where an agent reports to and what it looks at.
type Options struct {
	Server     string // https URL of the desktop server
	CAFile     string // PEM file of the authority of the server's certificate; the machine's own roots when empty
	Thumbprint string // SHA-256 of the server's certificate, accepted whoever signed it
	Token      string // enrolment token, needed once
	StateDir   string // where key and certificate are kept
	RDPAddress string // host:port of the RDP listener that must answer; empty: not checked

	Version string
	Build   string
	Root    fs.FS            // the machine's files; those of this machine when nil
	Now     func() time.Time // time.Now when nil
	Log     *slog.Logger
}

func (o Options) validate() error {
	switch {
	case o.Server == "":
		return errors.New("the server's address is missing")
	case o.StateDir == "":
		return errors.New("the folder for the agent's state is missing")
	case o.Log == nil:
		return errors.New("there is no log")
	}
	return nil
}

// Run enrols the machine if need be and reports until ctx ends. It returns
// early only when going on is of no use.
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
	m.Keeper = keeper{dir: o.StateDir}
	m.Now, m.Log = o.Now, o.Log
	m.Report = func(ctx context.Context, s heartbeat.Stamp) (any, error) {
		beat, err := h.look(ctx)
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
		return t, fmt.Errorf("read the server's authority: %w", err)
	}
	t.Roots = x509.NewCertPool()
	if !t.Roots.AppendCertsFromPEM(text) {
		return t, fmt.Errorf("%s holds no PEM certificate", o.CAFile)
	}
	return t, nil
}

// host is the machine that is looked at.
type host struct {
	root fs.FS
	rdp  string
	last times // processor times at the last look
}

// look takes one sample of the machine.
func (h *host) look(ctx context.Context) (desktop.AgentBeat, error) {
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
