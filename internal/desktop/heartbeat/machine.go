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

// CredentialStore stores the credential of a machine persistently.
type CredentialStore interface {
	// Load returns the saved credential. It fails with fault.NotFound when there is
	// none.
	Load() (Credential, error)

	// Save replaces the saved credential.
	Save(Credential) error
}

// Machine enrols one machine and sends its heartbeats.
type Machine struct {
	Server          string // https URL
	Trust           ServerTrust
	Token           string // used when there is no credential
	CredentialStore CredentialStore

	// Report returns the next report with the given stamp, or nil to skip this
	// interval.
	Report func(ctx context.Context, s Stamp) (any, error)

	Now  func() time.Time // time.Now when nil
	Log  *slog.Logger
	wake chan struct{}

	credential Credential
	client     *Client
	sequence   int64
}

// NewMachine returns a machine on which ReportNow can be called. The caller sets
// the exported fields.
func NewMachine() *Machine { return &Machine{wake: make(chan struct{}, 1)} }

// ReportNow makes the machine report now rather than at the end of its interval.
func (m *Machine) ReportNow() {
	select {
	case m.wake <- struct{}{}:
	default: // one is already pending
	}
}

// Run enrols the machine if it is not enrolled, and reports until ctx is done.
// It returns earlier only when retrying cannot help: the token, the
// certificate or a report is refused.
func (m *Machine) Run(ctx context.Context) error {
	if m.Now == nil {
		m.Now = time.Now
	}
	if err := m.join(ctx); err != nil {
		return err
	}
	defer func() { m.client.Close() }() // a renewal may have replaced the client
	failures := 0
	for {
		wait, err := m.sendBeat(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case isPermanent(err):
			return fmt.Errorf("report: %w", err)
		case err != nil && m.isExpired(m.credential):
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
	saved, err := m.CredentialStore.Load()
	if err == nil && m.isExpired(saved) { // treat an expired certificate as a missing one
		err = fault.New(fault.NotFound, "the certificate has expired")
	}
	switch {
	case err == nil:
		return m.use(saved)
	case !fault.Is(err, fault.NotFound):
		return fmt.Errorf("load the credential: %w", err)
	case m.Token == "":
		return fmt.Errorf("this machine is not enrolled: an enrolment token is required: %w", err)
	}
	client, err := NewClient(m.Server, m.Trust, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	for failures := 1; ; failures++ {
		credential, err := client.Enrol(ctx, m.Token)
		if err == nil {
			if err := m.CredentialStore.Save(credential); err != nil {
				return fmt.Errorf("save the credential: %w", err)
			}
			m.Log.InfoContext(ctx, "enrolled", "name", credential.Enrolment.Name)
			return m.use(credential)
		}
		if isPermanent(err) || ctx.Err() != nil {
			return fmt.Errorf("enrol: %w", err)
		}
		wait := backoff(failures, time.Minute)
		m.Log.WarnContext(ctx, "enrolment failed", "error", err, "retry_in", wait)
		if !m.sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// isExpired reports whether the certificate has expired, so that the server
// refuses the TLS handshake.
func (m *Machine) isExpired(c Credential) bool { return !m.Now().Before(c.Enrolment.NotAfter.Time()) }

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

// sendBeat sends one report and returns the time until the next.
func (m *Machine) sendBeat(ctx context.Context) (time.Duration, error) {
	// The clock keeps sequence numbers increasing over restarts; adding one keeps
	// them increasing when the clock is set back.
	m.sequence = max(m.sequence+1, m.Now().UnixMilli())
	report, err := m.Report(ctx, Stamp{Sequence: m.sequence, SentAt: desktop.MillisOf(m.Now())})
	if err != nil {
		return 0, fmt.Errorf("create the report: %w", err)
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
			m.Log.WarnContext(ctx, "renew certificate", "error", err)
		}
	}
	return jitter(m.interval()), nil
}

// catchUp reads the last sequence number that the server has, after the clock
// was set back and the machine restarted. It always returns an error, after
// which Run sends the next report.
func (m *Machine) catchUp(ctx context.Context, cause error) error {
	status, err := m.client.AgentStatus(ctx)
	if err != nil {
		return err
	}
	m.sequence = max(m.sequence, status.LastSequence)
	return fmt.Errorf("the sequence number was behind the server's and was corrected: %w", cause)
}

func (m *Machine) renew(ctx context.Context) error {
	renewed, err := m.client.Renew(ctx)
	if err != nil {
		return err
	}
	if err := m.CredentialStore.Save(renewed); err != nil {
		return fmt.Errorf("save the credential: %w", err)
	}
	return m.use(renewed)
}

// sleep waits for d or until ReportNow is called. It returns false when ctx is
// done.
func (m *Machine) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-m.wake:
	case <-timer.C:
	}
	return true
}

// isPermanent reports whether retrying cannot help, because the server refuses the
// request or the credential.
func isPermanent(err error) bool {
	return isRefusal(err, http.StatusBadRequest) || isRefusal(err, http.StatusUnauthorized) || isRefusal(err, http.StatusForbidden)
}

func isRefusal(err error, status int) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Status == status
}

// backoff doubles from one second to the given ceiling.
func backoff(failures int, ceiling time.Duration) time.Duration {
	return jitter(min(ceiling, time.Second<<min(failures-1, 10)))
}

// jitter varies an interval by up to 5 percent, to spread machines that were started together.
func jitter(d time.Duration) time.Duration { return d - d/20 + rand.N(d/10+1) }
