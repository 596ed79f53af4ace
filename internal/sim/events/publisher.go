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

// A Stream is the destination of an account's events: the server's response to
// the set-up script.
type Stream struct {
	Provider       posture.Provider `json:"provider"`
	Account        string           `json:"cloudAccountId"`
	Endpoint       string           `json:"endpoint"`
	Secret         string           `json:"secret"`
	Topic          string           `json:"topicName"`
	Subscription   string           `json:"subscriptionName"`
	ServiceAccount string           `json:"serviceAccount"`
}

// A request is one request to send.
type request struct {
	url    string
	header http.Header
	body   []byte
}

// Publisher delivers events like the clouds. It delivers several events of an account
// concurrently, and they may arrive out of order. It retries each event until the event is
// accepted, refused permanently, or lost after all retries.
type Publisher struct {
	Client *http.Client
	SNS    *SNS
	Google *Google
	Log    *slog.Logger
	Now    func() time.Time

	mu      sync.Mutex
	ctx     context.Context // of the deliveries, which outlive the calls that queue them
	streams map[string]*queue
	work    sync.WaitGroup
	ended   bool
}

// A queue is the queue of one stream.
type queue struct {
	Stream
	waiting []func(Stream) request // build and sign the requests when they are sent
	busy    int                    // running deliveries
}

// maxConcurrent is the number of concurrent deliveries of an account.
const maxConcurrent = 4

// Start prepares for deliveries, which end when ctx is done. Call it before any
// other method.
func (pub *Publisher) Start(ctx context.Context) {
	pub.mu.Lock()
	defer pub.mu.Unlock()
	pub.ctx, pub.streams = ctx, map[string]*queue{}
}

// Wait refuses further events and waits for the running deliveries. Call it
// when ctx is done; before that, it waits until the queues are empty.
func (pub *Publisher) Wait() {
	pub.mu.Lock()
	pub.ended = true
	pub.mu.Unlock()
	pub.work.Wait()
}

// Subscribe subscribes the stream of an account, with its cloud's handshake.
// Its events are delivered from then on.
func (pub *Publisher) Subscribe(ctx context.Context, s Stream) error {
	var p request
	switch s.Provider {
	case posture.AWS:
		p = s.request(pub.SNS.Confirm(s.topic("us-east-1")))
	case posture.Azure:
		h, body := Validation(s.Account, "code-"+uuid(), pub.Now())
		p = request{s.Endpoint, h, body}
	case posture.GCP:
		p = pub.push(s, []byte("{}"), map[string]string{"eventStreamStatus": "connected"})
	default:
		return fmt.Errorf("unknown cloud %q", s.Provider)
	}
	status, err := pub.send(ctx, p)
	if err != nil {
		return fmt.Errorf("subscribe %s: %w", s.Account, err)
	}
	if status/100 != 2 {
		return fmt.Errorf("subscribe %s: status %d", s.Account, status)
	}
	pub.mu.Lock()
	defer pub.mu.Unlock()
	pub.streams[key(s.Provider, s.Account)] = &queue{Stream: s}
	return nil
}

func key(p posture.Provider, account string) string {
	return string(p) + "/" + strings.ToLower(account)
}

// topic returns the name of the account's topic in a region.
func (s Stream) topic(region string) string {
	return "arn:aws:sns:" + region + ":" + s.Account + ":" + s.Topic
}

// push returns a Pub/Sub push request.
func (pub *Publisher) push(s Stream, data []byte, attributes map[string]string) request {
	p := pub.Google.Push("projects/"+s.Account+"/subscriptions/"+s.Subscription, data, attributes)
	token := pub.Google.Token(pub.Google.Claims(s.ServiceAccount, s.Endpoint))
	return request{s.Endpoint, http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}, p.Body()}
}

// deliver queues an event for the stream of an account, if it has one.
func (pub *Publisher) deliver(p posture.Provider, account string, pack func(Stream) request) {
	pub.mu.Lock()
	defer pub.mu.Unlock()
	q, ok := pub.streams[key(p, account)]
	if !ok || pub.ended {
		return
	}
	q.waiting = append(q.waiting, pack)
	if q.busy < maxConcurrent {
		q.busy++
		pub.work.Go(func() { pub.deliverQueued(q) })
	}
}

// deliverQueued delivers the events in a queue.
func (pub *Publisher) deliverQueued(q *queue) {
	for {
		pub.mu.Lock()
		if len(q.waiting) == 0 || pub.ctx.Err() != nil {
			q.waiting = nil
			q.busy--
			pub.mu.Unlock()
			return
		}
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		pub.mu.Unlock()
		pub.sendWithRetries(next(q.Stream))
	}
}

// sendWithRetries sends an event until it is accepted or refused, like the
// clouds. After eleven attempts it gives up.
func (pub *Publisher) sendWithRetries(p request) {
	var status int
	var err error
	for pause := 50 * time.Millisecond; pause < time.Minute; pause *= 2 {
		status, err = pub.send(pub.ctx, p)
		switch {
		case err == nil && status/100 == 2:
			return
		case err == nil && status/100 == 4 && status != http.StatusTooManyRequests:
			pub.Log.Warn("simulated event refused", "status", status)
			return
		}
		select {
		case <-time.After(pause):
		case <-pub.ctx.Done():
			return
		}
	}
	pub.Log.Warn("simulated event lost after all attempts", "status", status, "error", err)
}

func (pub *Publisher) send(ctx context.Context, p request) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return 0, err
	}
	r.Header = p.header.Clone()
	res, err := pub.Client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// trailEvent returns CloudTrail's event of a call.
func trailEvent(at time.Time, account, region, source, name string, parameters map[string]any) string {
	e, err := json.Marshal(map[string]any{
		"version": "0", "id": uuid(), "detail-type": "AWS API Call via CloudTrail", "source": "aws." + strings.TrimSuffix(source, ".amazonaws.com"),
		"account": account, "time": at, "region": region, "resources": []any{},
		"detail": map[string]any{
			"eventVersion": "1.09", "userIdentity": map[string]any{
				"type": "AssumedRole", "accountId": account, "principalId": "AROAEXAMPLE:operator",
				"arn": "arn:aws:sts::" + account + ":assumed-role/admin/operator",
			}, "eventTime": at, "eventSource": source,
			"eventName": name, "awsRegion": region, "sourceIPAddress": "198.51.100.7", "requestParameters": parameters, "responseElements": nil,
			"requestID": uuid(), "eventID": uuid(), "readOnly": false, "eventType": "AwsApiCall", "managementEvent": true, "recipientAccountId": account,
		},
	})
	if err != nil {
		panic(err) // cannot fail: the parameters are strings
	}
	return string(e)
}

// request returns the request that delivers an SNS message.
func (s Stream) request(n Notification) request { return request{s.Endpoint, n.Header(), n.Body()} }

// SendAzure delivers the activity log event of an operation.
func (pub *Publisher) SendAzure(o Operation) {
	pub.deliver(posture.Azure, o.Subscription, func(s Stream) request {
		return request{s.Endpoint, http.Header{"Aeg-Event-Type": {"Notification"}, "Content-Type": {"application/json"}}, GridBatch(o)}
	})
}

// SendGCP delivers an entry of the audit log.
func (pub *Publisher) SendGCP(project, service, method, resource string) {
	pub.deliver(posture.GCP, project, func(s Stream) request {
		return pub.push(s, encode(Entry(project, service, method, resource, pub.Now())), nil)
	})
}
