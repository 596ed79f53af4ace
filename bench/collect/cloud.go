package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"

	"vigil/internal/posture"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	simworld "vigil/internal/sim/world"
)

// region is the region of all resources.
const region = "us-east-1"

// A world configures the simulated cloud.
type world struct {
	Accounts int // number of accounts
	Each     int // resources per account, of the types that are read
}

// perThousand is how many of 1000 resources in the simulated cloud have one of
// the types to read.
const perThousand = 847

// A cloud holds the address and credentials of the simulated cloud.
type cloud struct {
	Address  string
	CA       []byte
	Key      string
	Secret   string
	Accounts []simaws.Account
}

// simulate serves a cloud until standard input ends. It prints the address to standard output.
func simulate(ctx context.Context, w world) error {
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	sim := simaws.New(simaws.Options{
		Seed: 1, Accounts: w.Accounts, Size: w.Each * 1000 / perThousand, Regions: []string{region}, Shares: simworld.Shares{Default: 0.1},
	}, g.Faults)
	for _, host := range simaws.Hosts {
		g.Handle(host, sim)
	}
	c := cloud{Address: g.Address(), CA: g.CA()}
	c.Key, c.Secret = sim.Identity()
	for i := range w.Accounts {
		c.Accounts = append(c.Accounts, sim.Account(i))
	}
	if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent process
		stop()
	}()
	return g.Serve(ctx)
}

// startCloud starts a process that simulates a world. The returned function stops it.
func startCloud(ctx context.Context, w world) (c cloud, stop func(), err error) {
	cmd, err := self(ctx, "cloud", w)
	if err != nil {
		return c, nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return c, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, nil, err
	}
	if err := cmd.Start(); err != nil {
		return c, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	if err := json.NewDecoder(out).Decode(&c); err != nil {
		stop()
		return c, nil, fmt.Errorf("start the simulated cloud: %w", err)
	}
	return c, stop, nil
}

// self returns a command that runs this program with one flag, whose value is JSON.
func self(ctx context.Context, flagName string, value any) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-"+flagName, string(text))
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// calls returns the number of calls so far by operation.
func (c cloud) calls(ctx context.Context) (map[string]int, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("the simulated cloud has no certificate")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+c.Address+"/calls", nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var counts []struct {
		gateway.Call
		Count int
	}
	if err := json.NewDecoder(answer.Body).Decode(&counts); err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, n := range counts {
		all[n.Service+" "+n.Action] += n.Count
	}
	return all, nil
}

// access returns the credential of an account.
func access(a simaws.Account) posture.Access {
	return posture.Access{
		Org:     org,
		Account: posture.Account{ID: posture.AccountID(a.ID), Provider: posture.AWS},
		Credential: posture.Credential{Provider: posture.AWS, Properties: []posture.Property{
			posture.Text(posture.PropRoleArn, a.RoleArn), posture.Text(posture.PropExternalID, a.ExternalID),
		}},
	}
}
