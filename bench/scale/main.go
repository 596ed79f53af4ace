// Command scale measures how many collections one, two and four processes on one
// PostgreSQL database complete in a minute, from a simulated AWS whose responses take a
// while, so that neither the processors nor the database are the limit.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sqldb"
)

type options struct {
	database string
	accounts int
	size     int
	latency  time.Duration
	lasts    time.Duration
	counts   string
}

func main() {
	var o options
	flag.StringVar(&o.database, "database", "", "`URL` of a PostgreSQL database in which schemas may be created")
	flag.IntVar(&o.accounts, "accounts", 12, "`number` of accounts")
	flag.IntVar(&o.size, "size", 40, "`number` of resources of an account")
	flag.DurationVar(&o.latency, "latency", 400*time.Millisecond, "`time` that each response of the cloud takes")
	flag.DurationVar(&o.lasts, "time", time.Minute, "`time` to measure each number of processes for")
	flag.StringVar(&o.counts, "processes", "1,2,4", "`numbers` of processes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "vigil-scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "server")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./internal/posture/app/crashserver").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	fmt.Printf("%d accounts, responses after %s, two collections at a time in each process, %s each\n", o.accounts, o.latency, o.lasts)
	fmt.Println("processes  collections/min  ratio  server cores")
	first := 0.0
	for text := range strings.SplitSeq(o.counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		perMinute, cores, err := measure(ctx, o, filepath.Join(dir, text), binary, n)
		if err != nil {
			return err
		}
		if first == 0 {
			first = perMinute
		}
		fmt.Printf("%9d  %15.1f  %5.2f  %12.2f\n", n, perMinute, perMinute/first, cores)
	}
	return nil
}

// measure returns the collections per minute of n processes, and how many cores they used
// on average.
func measure(ctx context.Context, o options, dir, binary string, n int) (perMinute, cores float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &fleet{o: o, binary: binary, dir: dir}
	defer func() { err = errors.Join(err, f.stop(), f.dropSchema(context.WithoutCancel(ctx))) }() // after Ctrl-C, too
	if err := f.build(ctx); err != nil {
		return 0, 0, err
	}
	if err := f.start(ctx, "api"); err != nil {
		return 0, 0, err
	}
	if err := f.onboard(ctx); err != nil {
		return 0, 0, err
	}
	for range n {
		if err := f.start(ctx, "collect,evaluate"); err != nil {
			return 0, 0, err
		}
	}
	// The first collection of each account is not measured. Requested collections have
	// priority over first ones, so request none until all first ones have ended.
	if err := f.waitForFirst(ctx); err != nil {
		return 0, 0, err
	}
	before, cpu, begin := f.completed, f.cpu(), time.Now()
	if err := f.keepCollecting(ctx, o.lasts); err != nil {
		return 0, 0, err
	}
	elapsed := time.Since(begin)
	return float64(f.completed-before) / elapsed.Minutes(), (f.cpu() - cpu).Seconds() / elapsed.Seconds(), nil
}

// A fleet is the simulated AWS, an installation and its processes.
type fleet struct {
	o         options
	binary    string
	dir       string
	schema    string
	database  string // URL of the database with the schema
	cloud     *simaws.Cloud
	args, env []string
	apiToken  string
	base      string
	token     string
	processes []*exec.Cmd
	completed int
	ended     map[string]string // by account: the last run that was counted
}

// build starts the cloud and creates an installation in a schema of its own.
func (f *fleet) build(ctx context.Context) error {
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if _, err := g.Faults.Add(gateway.Fault{Kind: gateway.Latency, Delay: gateway.Duration(f.o.latency)}); err != nil {
		return err
	}
	f.cloud = simaws.New(simaws.Options{Seed: 1, Accounts: f.o.accounts, Size: f.o.size, Regions: []string{"us-east-1"}}, g.Faults)
	for _, host := range simaws.Hosts {
		g.Handle(host, f.cloud)
	}
	go func() { _ = g.Serve(ctx) }()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	ca := filepath.Join(f.dir, "ca.pem")
	if err := os.WriteFile(ca, g.CA(), 0o600); err != nil {
		return err
	}
	key, secret := f.cloud.Identity()
	f.env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+key, "AWS_SECRET_ACCESS_KEY="+secret)
	if err := f.createSchema(ctx); err != nil {
		return err
	}
	f.args = []string{"-dir", f.dir, "-database", f.database, "-gateway", g.Address(), "-ca", ca}
	return f.install(ctx)
}

// createSchema creates the schema.
func (f *fleet) createSchema(ctx context.Context) error {
	u, err := url.Parse(f.o.database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("-database must be the URL of a PostgreSQL database")
	}
	schema := fmt.Sprintf("scale_%d", time.Now().UnixNano())
	if err := f.exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		return err
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	f.schema, f.database = schema, u.String()
	return nil
}

// dropSchema drops the schema, if it was created.
func (f *fleet) dropSchema(ctx context.Context) error {
	if f.schema == "" {
		return nil
	}
	return f.exec(ctx, "DROP SCHEMA "+f.schema+" CASCADE")
}

// exec executes a statement in the given database.
func (f *fleet) exec(ctx context.Context, statement string) (err error) {
	db, err := sqldb.Open(ctx, f.o.database, sqldb.Options{Connections: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
}

// install creates the installation and a token.
func (f *fleet) install(ctx context.Context) error {
	conf := config.Config{DataDir: f.dir, Database: f.database}
	conf.Complete()
	in, err := instance.OpenOrInit(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	defer in.Close()
	_, admin, err := in.Registry.CreateOrg(ctx, "org", "admin")
	if err != nil {
		return err
	}
	_, text, err := in.Registry.IssueToken(ctx, auth.Operator(admin.Org), auth.TokenEdit{Name: "bench", User: admin.ID})
	f.apiToken = text.Reveal()
	return err
}

// start starts a process with some roles. The first process is the one that answers requests.
func (f *fleet) start(ctx context.Context, roles string) error {
	cmd := exec.CommandContext(ctx, f.binary, append(f.args, "-roles", roles)...)
	cmd.Env, cmd.Stderr = f.env, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	f.processes = append(f.processes, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if f.base == "" {
		f.base = strings.TrimSpace(line)
	}
	return err
}

// stop ends the processes.
func (f *fleet) stop() (err error) {
	for _, p := range f.processes {
		if killErr := p.Process.Kill(); !errors.Is(killErr, os.ErrProcessDone) { // Ctrl-C ends them, too
			err = errors.Join(err, killErr)
		}
		_ = p.Wait() // it returns an error because the process was killed
	}
	return err
}

// cpu returns the processor time of the processes that collect, on Linux.
func (f *fleet) cpu() (sum time.Duration) {
	for _, p := range f.processes[1:] {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		for _, i := range []int{11, 12} { // user and system time in ticks of 10 ms
			ticks, _ := strconv.Atoi(fields[i])
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}

// onboard adds and links all accounts.
func (f *fleet) onboard(ctx context.Context) error {
	res, err := http.PostForm(f.base+"/csp/gateway/am/api/auth/api-tokens/authorize", url.Values{"refresh_token": {f.apiToken}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var access struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&access); err != nil {
		return err
	}
	f.token = access.AccessToken
	property := func(name, value string) map[string]any {
		return map[string]any{"name": name, "type": "string", "stringV": value}
	}
	const aws = "/v1/providers/aws/"
	for i := range f.o.accounts {
		a := f.cloud.Account(i)
		var credential struct{ CredentialID string }
		for _, step := range []struct {
			path string
			body map[string]any
			into any
		}{
			{"cloud-accounts", map[string]any{"cloudAccountName": a.ID, "properties": []any{property("accountId", a.ID)}}, nil},
			{"cloud-credentials", map[string]any{"properties": []any{property("RoleArn", a.RoleArn), property("ExternalId", a.ExternalID)}}, &credential},
		} {
			if err := f.post(ctx, aws+step.path, step.body, step.into); err != nil {
				return err
			}
		}
		if err := f.post(ctx, aws+"account-credential-relationship", map[string]any{"cloudAccountId": a.ID, "credentialId": credential.CredentialID}, nil); err != nil {
			return err
		}
	}
	return nil
}

// post sends a request and decodes the response. 409 Conflict is no error: the request for a
// collection gets it if the account has a collection in progress, such as a scheduled one.
func (f *fleet) post(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 && res.StatusCode != http.StatusConflict {
		return fmt.Errorf("%s: %s %s", path, res.Status, data)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// pollEvery is the pause between two polls of all accounts. A poll costs the API process and
// the database a request per account.
const pollEvery = 500 * time.Millisecond

// waitForFirst waits until the first collection of each account has ended.
func (f *fleet) waitForFirst(ctx context.Context) error {
	f.ended = map[string]string{}
	for ; len(f.ended) < f.o.accounts; time.Sleep(pollEvery) {
		for i := range f.o.accounts {
			id := f.cloud.Account(i).ID
			run, err := f.newestEnded(ctx, id)
			if err != nil {
				return err
			}
			if run != "" {
				f.ended[id] = run
			}
		}
	}
	return nil
}

// keepCollecting counts the completed collections, and starts the next one of each
// account when one has ended, until the time has passed.
func (f *fleet) keepCollecting(ctx context.Context, lasts time.Duration) error {
	for begin := time.Now(); time.Since(begin) < lasts; time.Sleep(pollEvery) {
		for i := range f.o.accounts {
			if err := f.countAndRestart(ctx, f.cloud.Account(i).ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// countAndRestart counts the newest run of an account if it has ended, and starts the next.
func (f *fleet) countAndRestart(ctx context.Context, account string) error {
	run, err := f.newestEnded(ctx, account)
	if err != nil || run == "" {
		return err
	}
	if f.ended[account] != run {
		f.ended[account] = run
		f.completed++
	}
	return f.post(ctx, "/v1/cloud-accounts/"+account+"/collections", map[string]any{}, nil)
}

// newestEnded returns the newest run of an account, or "" if it has not ended. It fails if
// the run has failed: a failed run takes less or more time than a complete one, and would
// falsify the measurement.
func (f *fleet) newestEnded(ctx context.Context, account string) (string, error) {
	var got struct {
		Results []struct {
			CollectionID string
			Status       posture.RunStatus
		}
	}
	err := f.post(ctx, "/v1/cloud-accounts/collection-status/query", map[string]any{"filters": map[string]any{"cloudAccountId": account}}, &got)
	if err != nil || len(got.Results) == 0 || got.Results[0].Status == posture.RunStarted {
		return "", err
	}
	switch run := got.Results[0]; run.Status {
	case posture.RunFailed, posture.RunTimeout:
		return "", fmt.Errorf("collection %s of account %s ended as %s", run.CollectionID, account, run.Status)
	default:
		return run.CollectionID, nil
	}
}
