package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// Keeper keeps the credential of a machine over restarts.
type Keeper interface {
	// Load returns what was saved; it fails with fault.NotFound when nothing was.
	Load() (Credential, error)

	// Save replaces it.
	Save(Credential) error
}

// Machine keeps one machine enrolled and reporting.
type Machine struct {
	Server string // https URL
	Trust  ServerTrust
	Token  string // used when there is no credential yet
	Keeper Keeper

	// Report makes the next report, with the given stamp, or nil to stay silent
	// this time.
	Report func(ctx context.Context, s Stamp) (any, error)

	Now   func() time.Time // time.Now when nil
	Log   *slog.Logger
	nudge chan struct{}

	credential Credential
	client     *Client
	sequence   int64
}

// NewMachine returns a machine that can be nudged. Its other fields are set by
// the caller.
func NewMachine() *Machine { return &Machine{nudge: make(chan struct{}, 1)} }

// Nudge has the machine report now rather than at the end of its interval.
func (m *Machine) Nudge() {
	select {
	case m.nudge <- struct{}{}:
	default: // one is waiting already
	}
}

// Run enrols if need be and reports until ctx ends. It gives up only when the
// server says that trying again is of no use: the token or the certificate is
// not accepted.
func (m *Machine) Run(ctx context.Context) error {
	if m.Now == nil {
		m.Now = time.Now
	}
	if err := m.join(ctx); err != nil {
		return err
	}
	defer func() { m.client.Close() }()
	failures := 0
	for {
		wait, err := m.once(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case hopeless(err):
			return fmt.Errorf("report: %w", err)
		case err != nil && m.expired(m.credential):
			return fmt.Errorf("the certificate has expired, and a new enrolment token is needed: %w", err)
		case err != nil:
			failures++
			wait = backoff(failures, m.interval())
			m.Log.WarnContext(ctx, "report failed", "error", err, "retry_in", wait)
		default:
			failures = 0
		}
		if !m.sleep(ctx, wait) {
			return nil
		}
	}
}

// join loads the credential, or enrols.
func (m *Machine) join(ctx context.Context) error {
	saved, err := m.Keeper.Load()
	if err == nil && m.expired(saved) {
		err = fault.New(fault.NotFound, "the certificate has expired")
	}
	switch {
	case err == nil:
		return m.use(saved)
	case !fault.Is(err, fault.NotFound):
		return fmt.Errorf("load the credential: %w", err)
	case m.Token == "":
		return fmt.Errorf("this machine is not enrolled, and there is no enrolment token: %w", err)
	}
	client, err := NewClient(m.Server, m.Trust, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	for failures := 1; ; failures++ {
		credential, err := client.Enrol(ctx, m.Token)
		if err == nil {
			if err := m.Keeper.Save(credential); err != nil {
				return fmt.Errorf("save the credential: %w", err)
			}
			m.Log.InfoContext(ctx, "enrolled", "name", credential.Enrolment.Name)
			return m.use(credential)
		}
		if hopeless(err) || ctx.Err() != nil {
			return fmt.Errorf("enrol: %w", err)
		}
		wait := backoff(failures, time.Minute)
		m.Log.WarnContext(ctx, "enrolment failed", "error", err, "retry_in", wait)
		if !m.sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// expired tells whether the server will no longer shake hands with us.
func (m *Machine) expired(c Credential) bool { return !m.Now().Before(c.Enrolment.NotAfter.Time()) }

func (m *Machine) use(c Credential) error {
	client, err := NewClient(m.Server, m.Trust, &c)
	if err != nil {
		return err
	}
	if m.client != nil {
		m.client.Close()
	}
	m.credential, m.client = c, client
	return nil
}

func (m *Machine) interval() time.Duration {
	return time.Duration(max(1, m.credential.Enrolment.IntervalSeconds)) * time.Second
}

// once sends one report and returns when to send the next.
func (m *Machine) once(ctx context.Context) (time.Duration, error) {
	// The clock keeps numbers growing over restarts; the sum keeps them growing
	// when the clock is set back.
	m.sequence = max(m.sequence+1, m.Now().UnixMilli())
	report, err := m.Report(ctx, Stamp{Sequence: m.sequence, SentAt: desktop.MillisOf(m.Now())})
	if err != nil {
		return 0, fmt.Errorf("make the report: %w", err)
	}
	if report == nil {
		return m.interval(), nil
	}
	receipt, err := m.client.Beat(ctx, m.credential.Enrolment.HeartbeatPath, report)
	if isRefusal(err, http.StatusConflict) {
		return 0, m.catchUp(ctx, err)
	}
	if err != nil {
		return 0, err
	}
	m.credential.Enrolment.IntervalSeconds = receipt.IntervalSeconds
	if receipt.Renew {
		if err := m.renew(ctx); err != nil {
			m.Log.WarnContext(ctx, "the certificate was not renewed", "error", err)
		}
	}
	return jitter(m.interval()), nil
}

// catchUp learns the last number the server has, after the clock was set back
// and the machine restarted.
func (m *Machine) catchUp(ctx context.Context, cause error) error {
	standing, err := m.client.Standing(ctx)
	if err != nil {
		return err
	}
	m.sequence = max(m.sequence, standing.LastSequence)
	return fmt.Errorf("the numbering was behind and is set right: %w", cause)
}

func (m *Machine) renew(ctx context.Context) error {
	renewed, err := m.client.Renew(ctx)
	if err != nil {
		return err
	}
	if err := m.Keeper.Save(renewed); err != nil {
		return fmt.Errorf("save the credential: %w", err)
	}
	return m.use(renewed)
}

// sleep waits, unless it is nudged, and reports whether to go on.
func (m *Machine) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-m.nudge:
	case <-timer.C:
	}
	return true
}

// hopeless reports whether the server will never take this from us.
func hopeless(err error) bool {
	return isRefusal(err, http.StatusBadRequest) || isRefusal(err, http.StatusUnauthorized) || isRefusal(err, http.StatusForbidden)
}

func isRefusal(err error, status int) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Status == status
}

// backoff grows from one second to the given ceiling.
func backoff(failures int, ceiling time.Duration) time.Duration {
	return jitter(min(ceiling, time.Second<<min(failures-1, 10)))
}

// jitter spreads machines that were started together.
func jitter(d time.Duration) time.Duration { return d - d/20 + rand.N(d/10+1) }
