// Command fairness measures how much an organisation that sends ten times its quota of
// requests delays another on the same server.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/store"
)

type options struct {
	database string
	quota    int
	times    float64
	rate     float64
	entities int
	round    time.Duration
	rounds   int

	abuser      bool // this is the process of the abuser
	base, token string
}

func main() {
	var o options
	flag.StringVar(&o.database, "database", "", "`URL` of an empty database; a temporary SQLite file if empty")
	flag.IntVar(&o.quota, "quota", 10, "quota of each organisation in `requests` per second")
	flag.Float64Var(&o.times, "times", 10, "how many `times` its quota the abuser sends")
	flag.Float64Var(&o.rate, "rate", 8, "`requests` per second of the other organisation")
	flag.IntVar(&o.entities, "entities", 60_000, "`number` of entities of the abuser; with 50,000 or more, its counts by tag are expensive")
	flag.DurationVar(&o.round, "round", 8*time.Second, "`time` of each phase")
	flag.IntVar(&o.rounds, "rounds", 4, "`number` of phases of each kind, which alternate")
	flag.StringVar(&o.base, "base", "", "URL of the server, for the process of the abuser (internal)")
	flag.BoolVar(&o.abuser, "abuser", false, "run the process of the abuser (internal)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.abuser {
		o.token = os.Getenv("FAIRNESS_TOKEN")
		err = beAbuser(ctx, o)
	} else {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fairness:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "vigil-fairness-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &server{o: o, dir: dir, binary: filepath.Join(dir, "vigil")}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "./cmd/vigil").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	good, bad, err := s.install(ctx)
	if err != nil {
		return err
	}
	stop, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	victim, err := login(ctx, s.base, good)
	if err != nil {
		return err
	}
	abuser, err := startAbuser(ctx, o, s.base, bad)
	if err != nil {
		return err
	}
	defer abuser.end()
	fmt.Printf("quota %d requests/s; the victim sends %.0f/s, the abuser up to %.0f/s; %d phases of %s each\n", o.quota, o.rate, o.times*float64(o.quota), o.rounds, o.round)
	phases := []*phase{{name: "no abuser"}, {name: "abuser at its quota", rate: float64(o.quota)}, {name: "abuser beyond its quota", rate: o.times * float64(o.quota)}}
	victim.send(ctx, o.rate, o.round/2, &latencies{}) // fills caches
	for range o.rounds {
		for _, p := range phases {
			if err := p.measure(ctx, s, victim, abuser); err != nil || ctx.Err() != nil {
				return cmp.Or(ctx.Err(), err)
			}
		}
	}
	fmt.Printf("%-26s %9s %9s %9s %9s  refused  server cores\n", "victim", "requests", "p50", "p90", "p99")
	for _, p := range phases {
		p.print(p.name, p.used.Seconds()/p.lasted.Seconds())
	}
	beyond := phases[len(phases)-1]
	for _, p := range phases[:len(phases)-1] {
		fmt.Printf("p99 with %s: %.2f times that with %s\n", beyond.name, float64(beyond.percentile(99))/float64(p.percentile(99)), p.name)
	}
	return abuser.report()
}

// A phase is what the victim measures while the abuser sends requests at a rate.
type phase struct {
	latencies
	name         string
	rate         float64
	lasted, used time.Duration // wall-clock time, and CPU time of the server
}

func (p *phase) measure(ctx context.Context, s *server, victim *client, a *abuser) error {
	o := s.o
	if p.rate > 0 {
		if err := a.tell(fmt.Sprint("send ", p.rate)); err != nil {
			return err
		}
		victim.send(ctx, o.rate, o.round/4, &latencies{}) // the abuser uses up its burst
	}
	begin, used := time.Now(), s.cpu()
	victim.send(ctx, o.rate, o.round, &p.latencies)
	p.lasted += time.Since(begin)
	p.used += s.cpu() - used
	return a.tell("rest")
}

// A server is the real server with two organisations.
type server struct {
	o                 options
	dir, binary, base string
	pid               int
}

// cpu returns the processor time of the server, on Linux.
func (s *server) cpu() (sum time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	for _, field := range strings.Fields(rest)[11:13] { // user and system time in ticks of 10 ms
		ticks, _ := strconv.Atoi(field)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

func (s *server) settings() []string {
	args := []string{"--data-dir", filepath.Join(s.dir, "data"), "--min-free-mb", "0"}
	if s.o.database != "" {
		args = append(args, "--database", s.o.database)
	}
	return args
}

// install creates the organisations and their data, and returns their API tokens.
func (s *server) install(ctx context.Context) (good, bad string, err error) {
	vigil := func(args ...string) string {
		if err != nil {
			return ""
		}
		out, failed := exec.CommandContext(ctx, s.binary, append(args, s.settings()...)...).Output()
		if failed != nil {
			err = fmt.Errorf("vigil %s: %w", strings.Join(args, " "), failed)
		}
		return strings.TrimSpace(string(out))
	}
	vigil("init")
	good, bad = vigil("org", "add", "good"), vigil("org", "add", "bad")
	if err != nil {
		return "", "", err
	}
	return good, bad, s.fill(ctx)
}

// fill adds an account with entities to each organisation.
func (s *server) fill(ctx context.Context) (err error) {
	conf := config.Config{DataDir: filepath.Join(s.dir, "data"), Database: s.o.database}
	conf.Complete()
	in, err := instance.Open(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := store.Migrate(ctx, in.DB); err != nil {
		return err
	}
	orgs, err := in.Registry.Orgs(ctx)
	if err != nil {
		return err
	}
	st := store.New(in.DB, in.Box, nil)
	for _, org := range orgs {
		n := 2000
		if org.Name == "bad" {
			n = s.o.entities
		}
		a := entitygen.New(0, n)
		if err := st.Onboard(ctx, posture.OrgID(org.ID), func(tx posture.OnboardingTx) error {
			return tx.AddAccount(posture.Account{ID: a.ID, Provider: a.Provider, Name: "generated"})
		}); err != nil {
			return err
		}
		for _, u := range a.Units() {
			if err := record(ctx, st, collect.Scoped{Org: posture.OrgID(org.ID), Account: a.ID, Type: u.Type, Region: u.Region}, u); err != nil {
				return err
			}
		}
	}
	return nil
}

func record(ctx context.Context, st *store.Store, scope collect.Scoped, u entitygen.Unit) error {
	r, err := st.Begin(ctx, scope)
	if err != nil {
		return err
	}
	for e := range u.Each {
		if err := r.Put(ctx, e); err != nil {
			r.Discard()
			return err
		}
	}
	return r.Commit(ctx, true)
}

// start starts the server. The returned function ends it.
func (s *server) start(ctx context.Context) (stop func(), err error) {
	args := append([]string{
		"serve", "--posture-plain-http", "--posture-listen", "127.0.0.1:0", "--log-level", "error",
		"--posture-rate", strconv.Itoa(s.o.quota), "--posture-quota-requests", strconv.Itoa(s.o.quota),
	}, s.settings()...)
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.pid = cmd.Process.Pid
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	lines := bufio.NewReader(out)
	for !strings.Contains(s.base, "http") {
		if s.base, err = lines.ReadString('\n'); err != nil {
			stop()
			return nil, fmt.Errorf("the server does not start: %w", err)
		}
	}
	s.base = strings.Fields(s.base[strings.Index(s.base, "http"):])[0]
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	if err := waitUntilReady(ctx, s.base); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func waitUntilReady(ctx context.Context, base string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return cmp.Or(ctx.Err(), errors.New("the server is not ready after a minute"))
}
