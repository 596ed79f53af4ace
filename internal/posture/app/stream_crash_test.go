package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
	"vigil/internal/sqldb/dbtest"
)

// An eventLoad is a simulated AWS with many changes, and a server that receives their
// events.
type eventLoad struct {
	t        *testing.T
	cloud    *simaws.Cloud
	sns      *events.SNS
	accounts []simaws.Account
	changes  []world.Change
	flags    []string // of a server that collects from the cloud
	keys     []string // credentials of the cloud in the environment of the server

	*host // of the server that receives the events
}

const eventRegion = "us-east-1"

// newEventLoad returns a load. Two loads with the same arguments are equal: the clouds
// date everything relative to today.
func newEventLoad(t *testing.T, today time.Time, accounts, changes int) *eventLoad {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.Listen("127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	s := &eventLoad{t: t, cloud: simaws.New(simaws.Options{
		Seed: 7, Accounts: accounts, Size: changes / accounts, Regions: []string{eventRegion}, Shares: world.Shares{Default: 0.2}, Today: today,
	}, g.Faults)}
	if s.sns, err = events.NewSNS(time.Now); err != nil {
		t.Fatal(err)
	}
	for _, host := range simaws.Hosts {
		g.Handle(host, s.cloud)
	}
	g.Handle("sns."+eventRegion+".amazonaws.com", s.sns.Handler(s.cloud))
	background(t, g.Serve)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, g.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	key, secret := s.cloud.Identity()
	s.flags = []string{"-gateway", g.Address(), "-ca", ca}
	s.keys = []string{"AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + secret}
	for i := range accounts {
		s.accounts = append(s.accounts, s.cloud.Account(i))
	}
	s.plan(changes, s.accounts)
	return s
}

// plan generates at least n changes in some accounts: resources of several types that
// are created, changed repeatedly, and removed.
func (s *eventLoad) plan(n int, accounts []simaws.Account) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(s.changes) < n; i++ {
		place := world.Place{Account: accounts[i%len(accounts)].ID, Region: eventRegion}
		ref := func(t posture.EntityType, name string) world.Ref { return world.Ref{Type: t, Place: place, Name: name} }
		switch r.IntN(6) {
		case 0:
			name := s.pick("AWS.EC2.SecurityGroup", place, r.IntN(20))
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.SecurityGroup", name), Patch: openPort(22, r.IntN(2) == 0)})
		case 1:
			name := s.pick("AWS.EC2.Volume", place, r.IntN(20))
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.Volume", name), Patch: world.Obj("encrypted", r.IntN(2) == 0)})
		case 2:
			name := s.pick("AWS.S3.Bucket", place, r.IntN(8))
			status := []string{"Enabled", "Suspended"}[r.IntN(2)]
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.S3.Bucket", name), Patch: world.Obj("_versioning", world.Obj("Status", status))})
		case 3:
			name := fmt.Sprintf("vol-0%016x", 0xabc0000+i)
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.Volume", name), Make: world.Obj("volumeId", name, "encrypted", false, "size", 1)})
			if r.IntN(2) == 0 {
				s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.Volume", name), Patch: world.Obj("encrypted", true)})
			}
		case 4:
			name := fmt.Sprintf("vol-0%016x", 0xdef0000+i)
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.Volume", name), Make: world.Obj("volumeId", name, "encrypted", false, "size", 1)},
				world.Change{Ref: ref("AWS.EC2.Volume", name), Gone: true})
		case 5:
			name := s.pick("AWS.EC2.SecurityGroup", place, r.IntN(20))
			s.changes = append(s.changes, world.Change{Ref: ref("AWS.EC2.SecurityGroup", name), Patch: openPort(3389, r.IntN(2) == 0)})
		}
	}
}

// pick returns the name of the i-th resource of a type, or of the first if there are fewer.
func (s *eventLoad) pick(t posture.EntityType, place world.Place, i int) string {
	name, _, ok := s.cloud.Resource(t, place, i)
	if !ok {
		name, _, _ = s.cloud.Resource(t, place, 0)
	}
	return name
}

func openPort(port int, toAll bool) world.Object {
	cidr := "10.0.0.0/8"
	if toAll {
		cidr = "0.0.0.0/0"
	}
	return world.Obj("ipPermissions", world.Items(world.Obj("ipProtocol", "tcp", "fromPort", port, "toPort", port, "ipRanges", world.Items(world.Obj("cidrIp", cidr)))))
}

// install creates an installation that has collected the cloud as it is without the
// changes. It returns the event streams by account.
func (s *eventLoad) install(dsn string) map[string]events.Stream {
	s.t.Helper()
	s.cloud.Changes.Reset()
	s.host = newHost(s.t, dsn)
	s.host.args, s.host.env = s.flags, s.keys

	c, kill := s.start()
	defer kill()
	streams := map[string]events.Stream{}
	for _, a := range s.accounts {
		c.want(201, "POST", accounts, awsAccount(a.ID))
		id := c.want(201, "POST", credentials, object{"properties": []object{textProperty("RoleArn", a.RoleArn), textProperty("ExternalId", a.ExternalID)}}).member("credentialId")
		c.want(201, "POST", relationships, object{"cloudAccountId": a.ID, "credentialId": id})
	}
	for _, a := range s.accounts {
		c.waitRun(a.ID)
		var stream events.Stream
		if err := json.Unmarshal([]byte(c.want(201, "POST", "/v1/cloud-accounts/"+a.ID+"/event-stream", nil).text), &stream); err != nil {
			s.t.Fatal(err)
		}
		streams[a.ID] = stream
	}
	c.quiet()
	return streams
}

// evaluating matches the metrics of a server with a queued or running evaluation.
var evaluating = regexp.MustCompile(`vigil_jobs_(running\{kind="judge",queue="evaluate"\}|waiting\{queue="evaluate",state="(available|retryable)"\}) [1-9]`)

// quiet waits until no evaluation is queued or running and no read of a changed resource
// is pending.
func (c *client) quiet() {
	c.t.Helper()
	// One reading of the metrics may miss a job that starts between the counts of running and of waiting
	// jobs; the next reading does not.
	idle := 0
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		busy := evaluating.MatchString(c.want(200, "GET", "/metrics", nil).text)
		got := c.want(200, "POST", "/v1/cloud-accounts/query", object{})
		for _, each := range got.body["cloudAccounts"].([]any) {
			id := each.(object)["cloudAccountId"].(string)
			if n, _ := c.want(200, "GET", "/v1/cloud-accounts/"+id+"/event-stream", nil).body["pendingCount"].(float64); n > 0 {
				busy = true
			}
		}
		idle++
		if busy {
			idle = 0
		}
		if idle == 2 {
			return
		}
	}
	c.t.Fatal("jobs or pending reads remain after the timeout")
}

// messages returns the event messages of the changes from one index to another.
func (s *eventLoad) messages(streams map[string]events.Stream, from, to int) []events.Notification {
	var all []events.Notification
	for i, c := range s.changes[from:to] {
		// A created or deleted volume gets ModifyVolume too: whatever the call, Vigil reads the resource that it names.
		source, name, member := "ec2.amazonaws.com", "ModifyVolume", "volumeId"
		switch c.Ref.Type {
		case "AWS.EC2.SecurityGroup":
			name, member = "AuthorizeSecurityGroupIngress", "groupId"
		case "AWS.S3.Bucket":
			source, name, member = "s3.amazonaws.com", "PutBucketVersioning", "bucketName"
		}
		event, err := json.Marshal(object{
			"id": fmt.Sprint("event-", from+i), "detail-type": "AWS API Call via CloudTrail", "account": c.Ref.Place.Account, "time": time.Now().UTC(), "region": eventRegion,
			"detail": object{"eventSource": source, "eventName": name, "awsRegion": eventRegion, "readOnly": false, "requestParameters": object{member: c.Ref.Name}},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		topic := "arn:aws:sns:" + eventRegion + ":" + c.Ref.Place.Account + ":" + streams[c.Ref.Place.Account].Topic
		all = append(all, s.sns.Notify(topic, string(event)))
	}
	return all
}

// send delivers a message and reports whether the server accepted it.
func send(c *client, n events.Notification) bool {
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+"/events/aws", bytes.NewReader(n.Body()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = n.Header()
	res, err := c.http.Do(r)
	if err != nil {
		return false // the server has crashed
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// apply makes changes in the cloud.
func (s *eventLoad) apply(changes []world.Change) {
	s.t.Helper()
	for _, c := range changes {
		if err := s.cloud.Change(c); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A state is all that a server has stored, without times and without who changed what.
type state struct {
	Entities map[posture.EntityID]posture.Entity
	Changes  map[posture.EntityID][]posture.EntityChange
	Findings map[string]string
}

// recordedState reads the state of the server.
func (s *eventLoad) recordedState() state {
	s.t.Helper()
	in := s.open()
	defer in.Close()
	st := store.New(in.DB, in.Box, nil)
	a := state{map[posture.EntityID]posture.Entity{}, map[posture.EntityID][]posture.EntityChange{}, map[string]string{}}
	for _, account := range s.accounts {
		_, err := st.EachEntity(s.t.Context(), s.org, posture.AccountID(account.ID), func(e posture.Entity) error {
			e.Created, e.Updated = time.Time{}, time.Time{}
			a.Entities[e.ID] = e
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	ids := maps.Clone(a.Entities)
	for _, c := range s.changes { // removed entities have a change log too
		ids[c.Ref.Type.ID(posture.AccountID(c.Ref.Place.Account), c.Ref.Place.Region, c.Ref.Name)] = posture.Entity{}
	}
	for id := range ids {
		log, err := st.ChangeLog(s.t.Context(), s.org, id)
		if err != nil {
			continue // the server never collected it
		}
		for i := range log {
			// The origin is empty if the entity was read first as the neighbour of another.
			log[i].At, log[i].ChangeOrigin = time.Time{}, posture.ChangeOrigin{}
		}
		a.Changes[id] = log
	}
	page, err := st.Findings(s.t.Context(), s.org, posture.FindingFilter{}, nil, posture.Page{}, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range page.Findings {
		a.Findings[string(f.Rule)+" "+string(f.Object)] = string(f.Status)
	}
	return a
}

// TestCrashesLoseNoEvents sends the events of many changes to a server that is killed
// repeatedly. It sends each event up to five times, and out of order. The final state must
// equal that of a server that got each event once, in order, without crashes.
func TestCrashesLoseNoEvents(t *testing.T) {
	t.Parallel()
	accounts, changes, kills := 2, 250, 3
	if os.Getenv("VIGIL_TORTURE") != "" {
		accounts, changes, kills = 3, 10_000, 20
	}
	today := time.Now().UTC().Truncate(time.Second)
	reference := newEventLoad(t, today, accounts, changes)
	inOrder := reference.deliverInOrder(dbtest.SQLite(t))
	t.Logf("%d events, %d entities, %d findings", len(reference.changes), len(inOrder.Entities), len(inOrder.Findings))
	open := 0
	for _, status := range inOrder.Findings {
		if status == "Open" {
			open++
		}
	}
	if open == 0 || len(inOrder.Entities) < 100 {
		t.Errorf("%d open findings of %d entities: too few for the test", open, len(inOrder.Entities))
	}
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		crashed := newEventLoad(t, today, accounts, changes).deliverAmidCrashes(dsn, kills)
		if diff := cmp.Diff(inOrder, crashed); diff != "" {
			t.Errorf("(-in order +amid crashes):\n%.4000s", diff)
		}
	})
}

// deliverInOrder sends all messages once and in order, to a server on SQLite.
func (s *eventLoad) deliverInOrder(dsn string) state {
	s.t.Helper()
	streams := s.install(dsn)
	s.apply(s.changes)
	c, kill := s.start()
	for _, n := range s.messages(streams, 0, len(s.changes)) {
		if !send(c, n) {
			s.t.Fatal("a message was not accepted")
		}
	}
	c.quiet()
	kill()
	return s.recordedState()
}

// deliverAmidCrashes sends all messages several times in random order while the server
// is killed.
func (s *eventLoad) deliverAmidCrashes(dsn string, kills int) state {
	s.t.Helper()
	streams := s.install(dsn)
	s.apply(s.changes)
	r := rand.New(rand.NewPCG(3, 4))
	var posts []events.Notification
	for _, n := range s.messages(streams, 0, len(s.changes)) {
		for range 1 + r.IntN(5) {
			posts = append(posts, n)
		}
	}
	r.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
	var unacknowledged []events.Notification
	for part := range slices.Chunk(posts, len(posts)/(kills+1)+1) {
		c, kill := s.start()
		// Send unacknowledged messages again, as clouds do.
		unacknowledged = deliverAndKill(c, slices.Concat(unacknowledged, part), kill)
	}
	c, kill := s.start()
	for _, n := range unacknowledged {
		if !send(c, n) {
			s.t.Fatal("a message was not accepted")
		}
	}
	c.quiet()
	kill()
	return s.recordedState()
}

// deliverAndKill sends messages from several clients and kills the server meanwhile. It
// returns the unacknowledged messages.
func deliverAndKill(c *client, posts []events.Notification, kill func()) (unacknowledged []events.Notification) {
	next := make(chan events.Notification)
	var mu sync.Mutex
	var senders sync.WaitGroup
	sent := 0
	for range 8 {
		senders.Go(func() {
			for n := range next {
				ok := send(c, n)
				mu.Lock()
				if !ok {
					unacknowledged = append(unacknowledged, n)
				}
				sent++
				if sent == len(posts)*2/3 {
					kill()
				}
				mu.Unlock()
			}
		})
	}
	for _, n := range posts {
		next <- n
	}
	close(next)
	senders.Wait()
	return unacknowledged
}
