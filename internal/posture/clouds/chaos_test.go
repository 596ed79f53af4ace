package clouds

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/gateway"
)

// TestRunsUnderFaults collects two accounts of each cloud concurrently and repeatedly,
// while the cloud hangs, resets connections, throttles, denies and sends garbage. Every
// run must end in a final state within its deadline, no entity may be lost that still
// exists, and the accounts must not mix. After the faults, one run must restore
// everything.
//
// VIGIL_TORTURE=1 makes 204 runs; the default is a fraction of them.
func TestRunsUnderFaults(t *testing.T) {
	rounds := 3
	if os.Getenv("VIGIL_TORTURE") != "" {
		rounds = 34
	}
	files := openFiles() // no other test opens files at the same time, because this test is not parallel
	t.Run("clouds", func(t *testing.T) {
		for _, p := range []posture.Provider{posture.AWS, posture.Azure, posture.GCP} {
			t.Run(string(p), func(t *testing.T) {
				t.Parallel()
				c := newChaos(t, p)
				for i := range rounds {
					c.round(t, i)
					if t.Failed() {
						t.Fatalf("round %d of seed %d", i, seed)
					}
				}
				c.checkRecovery(t)
				t.Logf("%d runs ended as %v, with %d resources removed on the way", 2*rounds, c.outcomes, c.removed)
			})
		}
	})
	// Connections close some time after the peer closed them, and the runtime opens a
	// few files of its own.
	for end := time.Now().Add(slack); len(openFiles()) > len(files)+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("open files %v, before %v", openFiles(), files)
		}
	}
}

const seed = 4

// deadline is the deadline of a run. slack is how much later it may end on a busy machine.
const (
	deadline = 5 * time.Second
	slack    = 30 * time.Second
)

// chaos is a cloud with injected faults, and its expected contents.
type chaos struct {
	*fixture
	random   *rand.Rand
	existing [2]map[posture.EntityID]posture.Entity // by account: existing resources
	deleted  [2]map[posture.EntityID]bool           // by account: removed resources
	outcomes map[posture.RunStatus]int
	removed  int
}

func newChaos(t *testing.T, p posture.Provider) *chaos {
	t.Helper()
	c := &chaos{fixture: newFixture(t, p), random: rand.New(rand.NewPCG(seed, 1)), outcomes: map[posture.RunStatus]int{}}
	for i, a := range c.accounts {
		if run := c.collect(t, a.Account.ID); run.Status != posture.RunCompleted {
			t.Fatalf("the first run ended as %s: %s %v", run.Status, run.Reason, run.Collectors)
		}
		c.existing[i], _ = c.known(t, a.Account.ID)
		c.deleted[i] = map[posture.EntityID]bool{}
	}
	return c
}

// round removes a resource, injects faults and collects both accounts.
func (c *chaos) round(t *testing.T, number int) {
	c.removeOne(t, number%2)
	faults := c.putFaults(t)
	c.sweep.Deadline = deadline
	var runs [2]posture.Run
	var work sync.WaitGroup
	for i, a := range c.accounts {
		work.Go(func() { runs[i] = c.collect(t, a.Account.ID) })
	}
	work.Wait()
	c.faults.Remove("") // all of them
	for i, run := range runs {
		c.outcomes[run.Status]++
		if run.Status == posture.RunStarted || run.Status == "" {
			t.Errorf("with %v: run %s has not ended, its status is %q", faults, run.ID, run.Status)
		}
		if elapsed := run.End.Sub(run.Start); elapsed > deadline+slack {
			t.Errorf("with %v: run %s took %v", faults, run.ID, elapsed)
		}
		c.compare(t, i, fmt.Sprint(faults))
	}
}

// removeOne removes from the cloud a resource of an account. No other resource depends on it.
func (c *chaos) removeOne(t *testing.T, account int) {
	var candidates []posture.EntityID
	for id, e := range c.existing[account] {
		if e.Type == c.loose {
			candidates = append(candidates, id)
		}
	}
	if len(candidates) < 2 {
		return // keep some, so that a loss could be noticed
	}
	slices.Sort(candidates)
	id := candidates[c.random.IntN(len(candidates))]
	if err := c.remove(c.existing[account][id]); err != nil {
		t.Fatalf("remove %s: %v", id, err)
	}
	delete(c.existing[account], id)
	c.deleted[account][id] = true
	c.removed++
}

// faultKinds are the injected faults. A response that a service is disabled is not
// among them: collectors rightly trust it.
var faultKinds = []gateway.Kind{
	gateway.Hang, gateway.Reset, gateway.Throttle, gateway.Garbage, gateway.Half, gateway.Stall, gateway.Fail, gateway.Latency, gateway.Deny, gateway.Expire,
}

// putFaults injects faults into random services of one or both accounts, including
// authentication.
func (c *chaos) putFaults(t *testing.T) []gateway.Fault {
	var services []string
	for call := range c.faults.Calls() {
		if !slices.Contains(services, call.Service) {
			services = append(services, call.Service)
		}
	}
	slices.Sort(services)
	var faults []gateway.Fault
	for range 1 + c.random.IntN(4) {
		f := gateway.Fault{
			Kind: faultKinds[c.random.IntN(len(faultKinds))], Rate: []float64{0.05, 0.2, 0.5, 1}[c.random.IntN(4)], Skip: c.random.IntN(4),
			RetryAfter: gateway.Duration(time.Duration(c.random.IntN(2)) * time.Second), Delay: gateway.Duration(200 * time.Millisecond),
		}
		if c.random.IntN(3) > 0 {
			f.Match.Service = services[c.random.IntN(len(services))]
		}
		if c.random.IntN(3) == 0 {
			f.Match.Account = string(c.accounts[c.random.IntN(2)].Account.ID)
		}
		if _, err := c.faults.Add(f); err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	return faults
}

// compare checks that every stored entity exists or did exist, and that every existing
// resource is stored.
func (c *chaos) compare(t *testing.T, account int, reason string) {
	known, _ := c.known(t, c.accounts[account].Account.ID)
	for id := range c.existing[account] {
		if _, ok := known[id]; !ok {
			t.Errorf("with %s: %s is lost", reason, id)
		}
	}
	other := string(c.accounts[1-account].Account.ID)
	for id, e := range known {
		old, ok := c.existing[account][id]
		if !ok && !c.deleted[account][id] {
			t.Errorf("with %s: %s was never there", reason, id)
		}
		if ok && strings.Contains(fmt.Sprint(e), other) && !strings.Contains(fmt.Sprint(old), other) {
			t.Errorf("with %s: %s contains data of the other account: %+v", reason, id, e)
		}
	}
}

// checkRecovery collects both accounts without faults and checks that the stored
// entities equal the existing resources.
func (c *chaos) checkRecovery(t *testing.T) {
	c.sweep.Deadline = ample
	for i, a := range c.accounts {
		if run := c.collect(t, a.Account.ID); run.Status != posture.RunCompleted {
			t.Errorf("the last run ended as %s: %s %v", run.Status, run.Reason, run.Collectors)
		}
		known, _ := c.known(t, a.Account.ID)
		for id, e := range known {
			old, ok := c.existing[i][id]
			if !ok {
				t.Errorf("%s is still stored", id)
				continue
			}
			if got, want := fmt.Sprint(e.Properties, e.Tags), fmt.Sprint(old.Properties, old.Tags); got != want {
				t.Errorf("%s is %s, was %s", id, got, want)
			}
		}
		if len(known) != len(c.existing[i]) {
			t.Errorf("%d entities are stored, %d exist", len(known), len(c.existing[i]))
		}
	}
}

// openFiles lists the open files and connections of this process, on systems with
// /proc.
func openFiles() (names []string) {
	const dir = "/proc/self/fd"
	all, _ := os.ReadDir(dir) // not on all systems
	for _, f := range all {
		name, _ := os.Readlink(dir + "/" + f.Name()) // it may be closed already
		names = append(names, name)
	}
	return names
}
