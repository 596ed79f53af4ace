// Command desktop compares the monitor list of 500 RDS servers with a static
// file of the same size, served by Go's own file server, in one run.
//
// The server is the complete product with authentication, log, metrics and
// limits. Simulated machines report to it continuously. The same client requests
// both over HTTP on loopback, alternating, so that other load on the machine
// affects both. The exit status is 1 when the list is served at less than half
// the rate of the file.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/config"
	"vigil/internal/desktop"
	"vigil/internal/desktop/app"
	"vigil/internal/instance"
	"vigil/internal/sim/estate"
)

func main() {
	round := flag.Duration("time", 3*time.Second, "length of a round")
	rounds := flag.Int("rounds", 5, "number of rounds")
	clients := flag.Int("clients", 8, "number of concurrent requests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *round, *rounds, *clients); err != nil {
		fmt.Fprintln(os.Stderr, "desktop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, round time.Duration, rounds, clients int) (err error) {
	dir, err := os.MkdirTemp("", "vigil-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e, err := estate.New(estate.Options{Dir: filepath.Join(dir, "estate"), AgentInterval: agentInterval})
	if err != nil {
		return err
	}
	if err := e.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	server, stop, err := serve(ctx, dir, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	api := httptest.NewServer(server.Handler())
	defer api.Close()
	token, err := login(api.URL, e.Admin)
	if err != nil {
		return err
	}
	list := target{url: api.URL + "/rest/monitor/rds-servers", token: token}
	body, err := list.get(http.DefaultClient)
	if err != nil {
		return err
	}
	static := filepath.Join(dir, "static")
	if err := errors.Join(os.Mkdir(static, 0o700), os.WriteFile(filepath.Join(static, "rds-servers.json"), body, 0o600)); err != nil {
		return err
	}
	files := httptest.NewServer(http.FileServer(http.Dir(static)))
	defer files.Close()
	return compare(ctx, list, target{url: files.URL + "/rds-servers.json"}, len(body), round, rounds, clients)
}

const (
	agentInterval = 30 * time.Second // how often the simulated machines report
	reportsWithin = 5 * time.Minute  // the timeout of the first reports: ten intervals, because the benchmark may run on a busy machine
)

// serve runs a desktop server to which the simulated machines report.
func serve(ctx context.Context, dir string, e *estate.Estate) (*app.App, func() error, error) {
	conf := config.Config{DataDir: filepath.Join(dir, "data")}
	conf.Desktop = config.Desktop{Enabled: true, Inventory: e.InventoryFile()}
	conf.Desktop.Listen = "127.0.0.1:0"
	conf.Complete()
	in, err := instance.OpenOrInit(ctx, conf, time.Now)
	if err != nil {
		return nil, nil, err
	}
	server, err := app.New(ctx, app.Options{
		Install: in, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now, Version: "bench",
		Prepare: func(url string) error {
			_, err := e.WriteInventory(url)
			return err
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	url, err := server.Listen(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	serverCtx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(serverCtx) }()
	stop := func() error {
		cancel()
		return errors.Join(<-served, in.Close())
	}
	trust, err := estate.Pin(ctx, url)
	if err == nil {
		err = e.Join(ctx, url, trust, server.EnrolmentToken)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	for deadline := time.Now().Add(reportsWithin); len(server.Board().Domains()) == 0 || !allReported(server.Board()); time.Sleep(50 * time.Millisecond) {
		if ctx.Err() != nil {
			return nil, nil, errors.Join(ctx.Err(), stop())
		}
		if time.Now().After(deadline) {
			return nil, nil, errors.Join(fmt.Errorf("not all machines have reported within %s", reportsWithin), stop())
		}
	}
	return server, stop, nil
}

// allReported reports whether every RDS server has reported.
func allReported(b *desktop.Board) bool {
	for _, r := range b.Records(desktop.KindRDSServer) {
		if m, ok := r.(desktop.RDSServerMonitor); ok && m.Details.State == desktop.RDSWaitForAgent {
			return false
		}
	}
	return true
}

func login(url string, a estate.Administrator) (string, error) {
	body, err := json.Marshal(map[string]string{"domain": a.Domain, "username": a.Username, "password": a.Password})
	if err != nil {
		return "", err
	}
	response, err := http.Post(url+"/rest/login", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&tokens); err != nil || tokens.Access == "" {
		return "", fmt.Errorf("login answered %d: %v", response.StatusCode, err)
	}
	return tokens.Access, nil
}

// target is a URL to request.
type target struct{ url, token string }

func (t target) get(c *http.Client) ([]byte, error) {
	response, err := t.do(c)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", t.url, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}

func (t target) do(c *http.Client) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodGet, t.url, nil)
	if err != nil {
		return nil, err
	}
	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	return c.Do(request)
}

// rate returns the number of requests per second.
func (t target) rate(round time.Duration, clients int) (float64, error) {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	defer c.CloseIdleConnections()
	var answered, failed atomic.Int64
	var wait sync.WaitGroup
	start := time.Now()
	for range clients {
		wait.Go(func() {
			buffer := make([]byte, 64<<10)
			for time.Since(start) < round {
				response, err := t.do(c)
				if err != nil {
					failed.Add(1)
					return
				}
				_, err = io.CopyBuffer(writerOnly{io.Discard}, response.Body, buffer)
				_ = response.Body.Close()
				if err != nil || response.StatusCode != http.StatusOK {
					failed.Add(1)
					return
				}
				answered.Add(1)
			}
		})
	}
	wait.Wait()
	if failed.Load() > 0 {
		return 0, fmt.Errorf("%s: %d requests failed", t.url, failed.Load())
	}
	return float64(answered.Load()) / time.Since(start).Seconds(), nil
}

// writerOnly hides the ReadFrom method of io.Discard, which uses its own buffer.
type writerOnly struct{ io.Writer }

func compare(ctx context.Context, list, file target, size int, round time.Duration, rounds, clients int) error {
	fmt.Printf("%d bytes, %d clients, %d rounds of %s each\n", size, clients, rounds, round)
	var sumList, sumFile float64
	for i := range rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := list.rate(round, clients)
		if err != nil {
			return err
		}
		f, err := file.rate(round, clients)
		if err != nil {
			return err
		}
		fmt.Printf("round %d: list %8.0f/s  file %8.0f/s  ratio %.2f\n", i+1, l, f, l/f)
		sumList, sumFile = sumList+l, sumFile+f
	}
	ratio := sumList / sumFile
	fmt.Printf("all:     list %8.0f/s  file %8.0f/s  ratio %.2f\n", sumList/float64(rounds), sumFile/float64(rounds), ratio)
	if ratio < 0.5 {
		return fmt.Errorf("the list is served at %.2f of the rate of a file; want at least 0.5", ratio)
	}
	return nil
}
