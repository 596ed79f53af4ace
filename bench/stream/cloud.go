package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"vigil/internal/posture"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// region is the region of all resources.
const region = "us-east-1"

// perAccount is the number of security groups per account that are opened and closed.
const perAccount = 60

// groupType is the type of the changing resources.
const groupType posture.EntityType = "AWS.EC2.SecurityGroup"

// A cloud is a simulated AWS that reports its changes.
type cloud struct {
	*simaws.Cloud
	gate      *gateway.Gateway
	publisher *events.Publisher
	ids       []string           // of the accounts
	open      map[world.Ref]bool // groups that are open to the internet

	end  context.CancelFunc
	work sync.WaitGroup
}

func newCloud(ctx context.Context, o options) (*cloud, error) {
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	c := &cloud{gate: g, open: map[world.Ref]bool{}}
	c.Cloud = simaws.New(simaws.Options{
		Seed: 1, Accounts: o.Accounts, Size: o.Size, Regions: []string{region}, Shares: world.Shares{Default: 0.1},
	}, g.Faults)
	sns, err := events.NewSNS(time.Now)
	if err != nil {
		return nil, err
	}
	for _, host := range simaws.Hosts {
		g.Handle(host, c.Cloud)
	}
	g.Handle("sns."+region+".amazonaws.com", sns.Handler(c.Cloud))
	c.publisher = &events.Publisher{
		Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, SNS: sns,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now,
	}
	for i := range o.Accounts {
		c.ids = append(c.ids, c.Account(i).ID)
		if err := c.makeGroups(c.ids[i]); err != nil {
			return nil, err
		}
	}
	ctx, c.end = context.WithCancel(ctx)
	c.work.Go(func() { _ = g.Serve(ctx) }) // ends with ctx
	c.publisher.Start(ctx)
	return c, nil
}

func (c *cloud) close() {
	c.end()
	c.publisher.Wait()
	c.work.Wait()
}

// group returns the reference of the i-th security group in the simulation.
func group(account string, i int) world.Ref {
	return world.Ref{Type: groupType, Place: world.Place{Account: account, Region: region}, Name: fmt.Sprintf("sg-0%016x", 0xbe0000+i)}
}

// entity returns the entity id of a security group.
func entity(r world.Ref) posture.EntityID {
	return r.Type.ID(posture.AccountID(r.Place.Account), r.Place.Region, r.Name)
}

// rules returns the rules of a group that is open to the internet, or of one that is not.
func rules(open bool) world.Object {
	cidr := "10.0.0.0/8"
	if open {
		cidr = "0.0.0.0/0"
	}
	return world.Obj("ipPermissions", world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 22, "toPort", 22, "ipRanges", world.Items(world.Obj("cidrIp", cidr)))))
}

func (c *cloud) makeGroups(account string) error {
	vpc, _, ok := c.Resource("AWS.EC2.Vpc", world.Place{Account: account, Region: region}, 0)
	if !ok {
		return errors.New("the account has no network")
	}
	for i := range perAccount {
		ref := group(account, i)
		group := world.Obj("groupId", ref.Name, "groupName", fmt.Sprint("bench-", i), "groupDescription", "used by the benchmark", "ownerId", account, "vpcId", vpc,
			"ipPermissionsEgress", []any{})
		if err := c.Change(world.Change{Ref: ref, Make: append(group, rules(false)...)}); err != nil {
			return err
		}
	}
	return nil
}

// setOpen opens a group to the internet, or closes it.
func (c *cloud) setOpen(ref world.Ref, open bool) error {
	c.open[ref] = open
	return c.Change(world.Change{Ref: ref, Patch: rules(open)})
}

// A step is a planned change.
type step struct {
	ref  world.Ref
	at   time.Time
	send func() // sends the message
}

// plan returns changes at a rate, distributed over all accounts. Their messages
// are signed in advance: signing is work of the cloud, and would take almost
// half as much CPU time as the server.
func (c *cloud) plan(rate float64, duration time.Duration) []step {
	steps := make([]step, int(rate*duration.Seconds()))
	for i := range steps {
		steps[i].ref = group(c.ids[i%len(c.ids)], i/len(c.ids)%perAccount)
	}
	sign := func(from, to int, begin time.Time) {
		for i := from; i < to; i++ {
			steps[i].at = begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			steps[i].send = c.publisher.PrepareAWS(steps[i].at, world.Change{Ref: steps[i].ref, Patch: rules(true)})
		}
	}
	const tried = 50 // sign these first, to estimate when all will be signed
	start := time.Now()
	sign(0, min(tried, len(steps)), start)
	begin := time.Now().Add(time.Since(start) * time.Duration(len(steps)/tried+1))
	var signing sync.WaitGroup
	const workers = 2
	for k := range workers {
		signing.Go(func() { sign(k*len(steps)/workers, (k+1)*len(steps)/workers, begin) })
	}
	signing.Wait()
	time.Sleep(time.Until(begin))
	return steps
}
