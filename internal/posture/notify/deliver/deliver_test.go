package deliver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"vigil/internal/outbound"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
	"vigil/internal/posture/notify/deliver"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// A receiver is a webhook server that records the messages it accepts.
type receiver struct {
	url   string
	serve func(n int) int // status for the n-th request, 0 to accept it

	mu     sync.Mutex
	events map[string]int    // number of messages by finding
	bodies map[string]string // of messages by id
	n      int               // number of requests
	wrong  []string          // messages without a matching id, and changed duplicates
}

func newReceiver(t *testing.T, serve func(n int) int) *receiver {
	r := &receiver{serve: serve, events: map[string]int{}, bodies: map[string]string{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

// ServeHTTP records a message. A duplicate must have the same body.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	text, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.n++
	n := r.n
	r.mu.Unlock()
	if status := r.serve(n); status != 0 {
		w.WriteHeader(status)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var m struct {
		ID     string
		Events []struct{ Finding struct{ EntityID string } }
	}
	if err := json.Unmarshal(text, &m); err != nil || m.ID == "" || m.ID != q.Header.Get("Vigil-Delivery") {
		r.wrong = append(r.wrong, string(text))
	}
	if old, repeated := r.bodies[m.ID]; repeated {
		if old != string(text) {
			r.wrong = append(r.wrong, "duplicate with another body")
		}
		return
	}
	r.bodies[m.ID] = string(text)
	for _, e := range m.Events {
		r.events[e.Finding.EntityID]++
	}
}

// check fails the test unless the receiver got each finding exactly once, in that many
// messages.
func (r *receiver) check(t *testing.T, name string, findings, messages int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) != findings || len(r.bodies) != messages || len(r.wrong) > 0 {
		t.Errorf("the receiver %s got %d findings in %d messages, want %d in %d; wrong: %.300v", name, len(r.events), len(r.bodies), findings, messages, r.wrong)
	}
	for id, n := range r.events {
		if n != 1 {
			t.Errorf("the receiver %s got the finding %s %d times", name, id, n)
		}
	}
}

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type fixture struct {
	*testing.T
	*deliver.Deliverer
	store *store.Store
	clock *clock
}

func run(t *testing.T, test func(f fixture)) {
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		fakeClock := &clock{at: time.Now()}
		s := store.New(db, secrettest.NewBox(t), nil)
		test(fixture{t, &deliver.Deliverer{
			Store: s, Now: fakeClock.now, Log: slog.New(slog.DiscardHandler),
			Sender: channel.New(channel.Options{Policy: outbound.Policy{AllowSelf: true}, Now: fakeClock.now}),
		}, s, fakeClock})
	})
}

// add adds channels and a rule that sends all findings of an organisation to the
// receivers.
func (f fixture) add(org posture.OrgID, perMinute int, receivers map[string]*receiver) {
	f.Helper()
	rule := notify.Rule{ID: "all", Name: "all", Enabled: true}
	for name, r := range receivers {
		c := notify.Channel{ID: name, Name: name, Type: notify.Webhook, Enabled: true, PerMinute: perMinute, Secrets: map[string]string{"url": r.url}}
		if err := f.store.AddChannel(f.Context(), org, c); err != nil {
			f.Fatal(err)
		}
		rule.Channels = append(rule.Channels, name)
	}
	if err := f.store.AddNotifyRule(f.Context(), org, rule); err != nil {
		f.Fatal(err)
	}
}

// raise creates findings, at most a thousand per account.
func (f fixture) raise(org posture.OrgID, count int) {
	f.Helper()
	r := posture.RuleJudgement{Rule: "r"}
	for n := range count {
		account := posture.AccountID(fmt.Sprintf("%012d", n/1000))
		r.Violating = append(r.Violating, posture.Raised{Blob: func() string { return "{}" }, Finding: posture.Finding{
			Provider: posture.AWS, Object: posture.EntityID(fmt.Sprintf("AWS.S3.%s.global.Bucket.b%d", account, n)), Type: "AWS.S3.Bucket",
			Name: fmt.Sprintf("bucket %d", n), Service: "S3", Region: "eu-west-1", Level: posture.LevelHigh, Tags: map[string]string{"env": "prod"},
		}})
		if len(r.Violating) < 1000 && n < count-1 {
			continue
		}
		_, err := f.store.Observe(f.Context(), org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: f.clock.now(), Rules: []posture.RuleJudgement{r}})
		if err != nil {
			f.Fatal(err)
		}
		r.Violating = nil
	}
}

// round does one cycle of the server: it dispatches, and sends to all due channels
// concurrently.
func (f fixture) round(sending *sync.WaitGroup) {
	f.Helper()
	due, err := f.Dispatch(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, ref := range due {
		sending.Go(func() {
			if err := f.Channel(f.Context(), ref); err != nil {
				f.Error(err)
			}
		})
	}
}

// until runs cycles, advancing the clock, until at most this many messages of the
// organisation "many" wait.
func (f fixture) until(waiting int) {
	f.Helper()
	var sending sync.WaitGroup
	for range 1000 {
		f.round(&sending)
		sending.Wait()
		_, n, err := f.store.Deliveries(f.Context(), "many", notify.DeliveryFilter{State: notify.Waiting}, 1)
		if err != nil {
			f.Fatal(err)
		}
		if n <= waiting {
			return
		}
		f.clock.advance(10 * time.Minute) // longer than any pause
	}
}

func constantStatus(status int) func(int) int { return func(int) int { return status } }

// TestNoFindingIsLostOrDuplicated creates many findings while receivers are slow, fail,
// or are down. The slow one responds to its first message only after another
// organisation has got everything.
func TestNoFindingIsLostOrDuplicated(t *testing.T) {
	t.Parallel()
	run(t, func(f fixture) {
		findings := 2_000
		if os.Getenv("VIGIL_TORTURE") != "" {
			findings = 10_000
		}
		messages := findings / notify.MaxItems
		otherDone := make(chan struct{})
		receivers := map[string]*receiver{
			"well": newReceiver(f.T, constantStatus(0)),
			"flaky": newReceiver(f.T, func(n int) int {
				if n%3 == 1 {
					return 500
				}
				return 0
			}),
			"dead": newReceiver(f.T, constantStatus(503)),
			"slow": newReceiver(f.T, func(n int) int {
				if n == 1 {
					<-otherDone
				}
				return 0
			}),
		}
		other := newReceiver(f.T, constantStatus(0))
		f.add("many", 600, receivers)
		f.add("other", 600, map[string]*receiver{"other": other})
		f.raise("many", findings)
		f.raise("other", 3)

		var sending sync.WaitGroup
		f.round(&sending)
		for end := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			other.mu.Lock()
			got := len(other.events)
			other.mu.Unlock()
			if got == 3 || time.Now().After(end) {
				break
			}
		}
		other.check(f.T, "of the other organisation", 3, 1)
		close(otherDone)
		sending.Wait()
		f.until(messages) // only messages to the dead receiver wait
		for name, r := range receivers {
			if name != "dead" {
				r.check(f.T, name, findings, messages)
			}
		}

		f.clock.advance(notify.GiveUpAfter)
		if err := f.store.ExpireDeliveries(f.Context(), f.clock.now(), f.clock.now().Add(-notify.KeptFor)); err != nil {
			f.Fatal(err)
		}
		dead, total, err := f.store.Deliveries(f.Context(), "many", notify.DeliveryFilter{State: notify.Dead}, 1000)
		if err != nil || total != messages || len(dead) != messages || dead[0].Channel != "dead" || dead[0].Count != notify.MaxItems {
			f.Fatalf("%d dead letters, %v; want the %d of the dead receiver", total, err, messages)
		}
		receivers["dead"].serve = constantStatus(0) // it works again
		if n, err := f.store.RetryChannel(f.Context(), "many", "dead", f.clock.now()); err != nil || n != messages {
			f.Fatalf("%d dead letters are tried again, %v", n, err)
		}
		f.until(0)
		receivers["dead"].check(f.T, "that was dead", findings, messages)
	})
}

// TestRefusedMessageDoesNotDelayOthers has a receiver refuse one message and fail on
// another. Later messages must arrive.
func TestRefusedMessageDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	run(t, func(f fixture) {
		r := newReceiver(f.T, func(n int) int {
			switch n {
			case 1:
				return 400
			case 2:
				return 500
			}
			return 0 // accepts the message
		})
		f.add("org", 600, map[string]*receiver{"r": r})
		f.raise("org", 3*notify.MaxItems)
		var sending sync.WaitGroup
		f.round(&sending)
		sending.Wait()
		f.clock.advance(time.Minute)
		f.round(&sending)
		sending.Wait()
		r.check(f.T, "r", 2*notify.MaxItems, 2)
		dead, total, err := f.store.Deliveries(f.Context(), "org", notify.DeliveryFilter{State: notify.Dead}, 10)
		if err != nil || total != 1 || dead[0].Error != "the receiver answered 400" {
			f.Errorf("dead letters %+v, %v; want the refused message", dead, err)
		}
	})
}

func TestChannelRateLimit(t *testing.T) {
	t.Parallel()
	run(t, func(f fixture) {
		r := newReceiver(f.T, constantStatus(0))
		f.add("org", 2, map[string]*receiver{"r": r})
		f.raise("org", 5*notify.MaxItems)
		var sending sync.WaitGroup
		for _, want := range []int{2, 2, 4, 4, 5} { // messages after 0, 31, 62, 93 and 124 s; two may be sent in a minute
			f.round(&sending)
			sending.Wait()
			r.check(f.T, "r", want*notify.MaxItems, want)
			f.clock.advance(31 * time.Second)
		}
	})
}

// TestConcurrentChannelsPerOrganisationAreLimited checks that an organisation with many
// slow receivers uses only its share of the workers.
func TestConcurrentChannelsPerOrganisationAreLimited(t *testing.T) {
	t.Parallel()
	run(t, func(f fixture) {
		var (
			mu           sync.Mutex
			active, most int // channels that are sending now, and at a time at most
		)
		settled := make(chan struct{}, 100) // gets a value when a channel begins to send, and when it is done or was not permitted to send
		release := make(chan struct{})
		f.Sender = sendFunc(func(ctx context.Context) error {
			mu.Lock()
			active++
			most = max(most, active)
			mu.Unlock()
			settled <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			mu.Lock()
			defer mu.Unlock()
			active--
			return nil
		})
		receivers := map[string]*receiver{}
		for n := range 10 {
			receivers[fmt.Sprint("r", n)] = &receiver{url: "https://receiver.invalid"} // not called: sendFunc sends nothing
		}
		f.add("org", 600, receivers)
		f.raise("org", 1)
		var sending sync.WaitGroup
		due, err := f.Dispatch(f.Context())
		if err != nil || len(due) != 10 {
			f.Fatalf("%d channels are due, want 10; %v", len(due), err)
		}
		for _, ref := range due {
			sending.Go(func() {
				if err := f.Channel(f.Context(), ref); err != nil {
					f.Error(err)
				}
				settled <- struct{}{}
			})
		}
		for range due { // each channel has begun to send, or was not permitted to
			<-settled
		}
		close(release)
		sending.Wait()
		for range 10 {
			f.round(&sending)
			sending.Wait()
		}
		if _, total, err := f.store.Deliveries(f.Context(), "org", notify.DeliveryFilter{State: notify.Delivered}, 10); err != nil || total != 10 || most != 4 {
			f.Errorf("%d messages were delivered, %v, to %d channels at a time at most; want 10, to 4", total, err, most)
		}
	})
}

type sendFunc func(ctx context.Context) error

func (s sendFunc) Send(ctx context.Context, _ notify.Channel, _ notify.Message) error { return s(ctx) }
