package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/gctune"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/onboard"
	"vigil/internal/processors"
	simaws "vigil/internal/sim/aws"
)

// A setup is the first message to the server process.
type setup struct {
	Options  options
	Gateway  egress.Gateway
	AWS      aws.Identity
	Accounts []simaws.Account
}

// A ready is the message of the server process when the accounts are collected and evaluated.
type ready struct {
	Base, Token     string
	Entities, Rules int // set by readInventory in the other process
}

// counters are the CPU time and the stages of the server up to a point in time.
type counters struct {
	CPU    time.Duration
	Stages map[string]stage
}

// A stage holds the number of operations and their total time.
type stage struct {
	Count   uint64
	Seconds float64
}

// serve runs the server process. It reads a setup, reports when it is ready, and
// answers each further line of its input with counters, until the input ends. It
// profiles the time between the first two of these lines.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	gctune.Tune() // like the server
	processors.Spread()
	lines, encoder := bufio.NewScanner(in), json.NewEncoder(out)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return fmt.Errorf("no setup: %w", cmp.Or(lines.Err(), io.EOF))
	}
	var s setup
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return err
	}
	h, err := newBenchServer(ctx, s)
	if err != nil {
		return err
	}
	defer h.installation.Close()
	ctx, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.app.Serve(ctx) }()
	defer func() { end(); <-ended }()
	r, err := h.onboard(ctx, s)
	if err != nil {
		return err
	}
	for err = encoder.Encode(r); err == nil && lines.Scan(); {
		if err = h.profile(s.Options.Profile); err != nil {
			break
		}
		var m counters
		m, err = h.counters()
		if err == nil {
			err = encoder.Encode(m)
		}
	}
	return err
}

// A benchServer is the server inside its process.
type benchServer struct {
	installation *instance.Installation
	app          *app.App
	metrics      *prometheus.Registry
	base         string
	marks        int // requests for counters so far
}

func newBenchServer(ctx context.Context, s setup) (*benchServer, error) {
	h := &benchServer{metrics: prometheus.NewRegistry()}
	sources, err := clouds.New(clouds.Options{AWS: s.AWS, Gateway: &s.Gateway})
	if err != nil {
		return nil, err
	}
	conf := config.Config{DataDir: s.Options.Dir, Database: s.Options.Database}
	conf.Posture = config.Posture{Enabled: true, Workers: 2, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	conf.Complete()
	if h.installation, err = instance.OpenOrInit(ctx, conf, time.Now); err != nil {
		return nil, err
	}
	h.app, err = app.New(ctx, app.Options{
		Install: h.installation, Cloud: sources, Sources: sources.Sources(), Client: sources.Client(), Metrics: h.metrics, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, err
	}
	h.base, err = h.app.Listen(ctx)
	return h, err
}

// A tenant holds the credentials of the client. It is stored beside the data.
type tenant struct {
	Org   posture.OrgID
	Token string
}

// onboard onboards the accounts and waits until they are collected and evaluated.
func (h *benchServer) onboard(ctx context.Context, s setup) (ready, error) {
	file := filepath.Join(s.Options.Dir, "bench.json")
	var target tenant
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &target)
	} else if target, err = h.createOrganisation(ctx, s.Accounts); err == nil {
		text, _ = json.Marshal(target) // strings always marshal
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return ready{}, err
	}
	for settled := false; !settled; {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ready{}, ctx.Err()
		}
		if settled, err = h.app.Settled(ctx, target.Org); err != nil {
			return ready{}, err
		}
	}
	return ready{Base: h.base, Token: target.Token}, nil
}

// createOrganisation creates an organisation with all accounts.
func (h *benchServer) createOrganisation(ctx context.Context, accounts []simaws.Account) (tenant, error) {
	org, admin, err := h.installation.Registry.CreateOrg(ctx, fmt.Sprint("bench ", time.Now().UnixNano()), "admin")
	if err != nil {
		return tenant{}, err
	}
	_, text, err := h.installation.Registry.IssueToken(ctx, auth.Operator(org.ID), auth.TokenEdit{Name: "bench", User: admin.ID, Role: auth.Admin})
	if err != nil {
		return tenant{}, err
	}
	target := tenant{posture.OrgID(org.ID), text.Reveal()}
	for _, a := range accounts {
		_, err := h.app.Onboarding().Apply(ctx, target.Org, onboard.Changes{
			Provider: posture.AWS,
			Credentials: []onboard.CredentialChange{{Action: onboard.Post, Ref: "c", Properties: []posture.Property{
				posture.Text(posture.PropRoleArn, a.RoleArn), posture.Text(posture.PropExternalID, a.ExternalID),
			}}},
			Accounts: []onboard.AccountChange{{Action: onboard.Post, Spec: posture.AccountSpec{
				Name: "bench " + a.ID, Properties: posture.Give([]posture.Property{posture.Text("accountId", a.ID)}),
			}}},
			Links: []onboard.LinkChange{{Action: onboard.Post, Account: posture.AccountID(a.ID), Ref: "c"}},
		})
		if err != nil {
			return target, err
		}
	}
	return target, nil
}

// profile starts a profile at the first request for counters and ends it at the second.
func (h *benchServer) profile(file string) error {
	h.marks++
	if file == "" || h.marks > 2 {
		return nil
	}
	if h.marks == 2 {
		pprof.StopCPUProfile()
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// counters returns the current counters.
func (h *benchServer) counters() (counters, error) {
	m := counters{Stages: map[string]stage{}}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return m, err
	}
	m.CPU = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	families, err := h.metrics.Gather()
	if err != nil {
		return m, err
	}
	for _, f := range families {
		if f.GetName() != "vigil_stream_stage_seconds" {
			continue
		}
		for _, each := range f.GetMetric() {
			m.Stages[each.GetLabel()[0].GetValue()] = stage{each.GetHistogram().GetSampleCount(), each.GetHistogram().GetSampleSum()}
		}
	}
	return m, nil
}
