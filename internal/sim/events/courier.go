package events

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"vigil/internal/posture"
)

// A Stream is where the events of an account go: what the server answers to the
// set-up script.
type Stream struct {
	Provider       posture.Provider `json:"provider"`
	Account        string           `json:"cloudAccountId"`
	Endpoint       string           `json:"endpoint"`
	Secret         string           `json:"secret"`
	Topic          string           `json:"topicName"`
	Subscription   string           `json:"subscriptionName"`
	ServiceAccount string           `json:"serviceAccount"`
}

// A parcel is one request to be made.
type parcel struct {
	url    string
	header http.Header
	body   []byte
}

// Courier delivers events, several of an account at a time, so that they need not
// arrive in order; each again until it is taken or was refused for good.
type Courier struct {
	Client *http.Client
	SNS    *SNS
	Google *Google
	Log    *slog.Logger
	Now    func() time.Time

	mu      sync.Mutex
	ctx     context.Context // of the deliveries, which outlive the calls that ask for them
	streams map[string]*lane
	work    sync.WaitGroup
	ended   bool
}

// A lane is the way to one stream.
type lane struct {
	Stream
	waiting []func(Stream) parcel // that are signed when they are sent
	busy    int                   // deliveries that are under way
}

// atOnce is how many deliveries of an account are under way at a time.
const atOnce = 4

// Start begins to deliver, until ctx ends and Wait returns.
func (c *Courier) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.streams = ctx, map[string]*lane{}
}

// Wait ends the deliveries once ctx has ended.
func (c *Courier) Wait() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.work.Wait()
}

// Subscribe sets up the stream of an account, with the handshake that its cloud
// does. From then on its events are delivered.
func (c *Courier) Subscribe(ctx context.Context, s Stream) error {
	var p parcel
	switch s.Provider {
	case posture.AWS:
		p = s.parcel(c.SNS.Confirm(s.topic("us-east-1")))
	case posture.Azure:
		h, body := Validation(s.Account, "code-"+uuid(), c.Now())
		p = parcel{s.Endpoint, h, body}
	case posture.GCP:
		p = c.push(s, []byte("{}"), map[string]string{"eventStreamStatus": "connected"})
	default:
		return fmt.Errorf("there is no cloud %q", s.Provider)
	}
	if status, err := c.send(ctx, p); err != nil || status/100 != 2 {
		return fmt.Errorf("subscribe %s: status %d, %w", s.Account, status, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[key(s.Provider, s.Account)] = &lane{Stream: s}
	return nil
}

func key(p posture.Provider, account string) string {
	return string(p) + "/" + strings.ToLower(account)
}

// topic returns the name of the account's topic in a region.
func (s Stream) topic(region string) string {
	return "arn:aws:sns:" + region + ":" + s.Account + ":" + s.Topic
}

// push returns a message that Pub/Sub pushes.
func (c *Courier) push(s Stream, data []byte, attributes map[string]string) parcel {
	p := c.Google.Push("projects/"+s.Account+"/subscriptions/"+s.Subscription, data, attributes)
	token := c.Google.Token(c.Google.Claims(s.ServiceAccount, s.Endpoint))
	return parcel{s.Endpoint, http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}, p.Body()}
}

// deliver has something delivered to the stream of an account, if it has one.
func (c *Courier) deliver(p posture.Provider, account string, pack func(Stream) parcel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.streams[key(p, account)]
	if !ok || c.ended {
		return
	}
	l.waiting = append(l.waiting, pack)
	if l.busy < atOnce {
		l.busy++
		c.work.Go(func() { c.drive(l) })
	}
}

// drive delivers what waits in a lane.
func (c *Courier) drive(l *lane) {
	for {
		c.mu.Lock()
		if len(l.waiting) == 0 || c.ctx.Err() != nil {
			l.waiting = nil
			l.busy--
			c.mu.Unlock()
			return
		}
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		c.mu.Unlock()
		c.insist(next(l.Stream))
	}
}

// insist sends something until it is taken, as the clouds do.
func (c *Courier) insist(p parcel) {
	for pause := 50 * time.Millisecond; pause < time.Minute; pause *= 2 {
		status, err := c.send(c.ctx, p)
		switch {
		case err == nil && status/100 == 2:
			return
		case err == nil && status/100 == 4 && status != http.StatusTooManyRequests:
			c.Log.Warn("a simulated event was refused", "status", status)
			return
		}
		select {
		case <-time.After(pause):
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *Courier) send(ctx context.Context, p parcel) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return 0, err
	}
	r.Header = p.header.Clone()
	res, err := c.Client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// Idle reports whether everything was delivered.
func (c *Courier) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.streams {
		if l.busy > 0 {
			return false
		}
	}
	return true
}

// trailEvent returns what CloudTrail says of a call.
func trailEvent(at time.Time, account, region, source, name string, parameters map[string]any) string {
	e, err := json.Marshal(map[string]any{
		"version": "0", "id": uuid(), "detail-type": "AWS API Call via CloudTrail", "source": "aws." + strings.TrimSuffix(source, ".amazonaws.com"),
		"account": account, "time": at, "region": region, "resources": []any{},
		"detail": map[string]any{
			"eventVersion": "1.09", "userIdentity": map[string]any{"type": "AssumedRole", "accountId": account}, "eventTime": at, "eventSource": source,
			"eventName": name, "awsRegion": region, "sourceIPAddress": "198.51.100.7", "requestParameters": parameters, "responseElements": nil,
			"requestID": uuid(), "eventID": uuid(), "readOnly": false, "eventType": "AwsApiCall", "managementEvent": true, "recipientAccountId": account,
		},
	})
	if err != nil {
		panic(err) // it is made of strings
	}
	return string(e)
}

// parcel returns the request in which SNS delivers a message.
func (s Stream) parcel(n Notification) parcel { return parcel{s.Endpoint, n.Header(), n.Body()} }

// SendAzure delivers what the activity log says of an operation.
func (c *Courier) SendAzure(o Operation) {
	c.deliver(posture.Azure, o.Subscription, func(s Stream) parcel {
		return parcel{s.Endpoint, http.Header{"Aeg-Event-Type": {"Notification"}, "Content-Type": {"application/json"}}, GridBatch(o)}
	})
}

// SendGCP delivers an entry of the audit log.
func (c *Courier) SendGCP(project, service, method, resource string) {
	c.deliver(posture.GCP, project, func(s Stream) parcel {
		return c.push(s, encode(Entry(project, service, method, resource, c.Now())), nil)
	})
}
