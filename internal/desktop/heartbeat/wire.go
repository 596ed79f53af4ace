package heartbeat

import (
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// EnrolRequest is the body of an enrolment.
type EnrolRequest struct {
	Token string `json:"token" required:"true"`
	CSR   string `json:"csr" required:"true"` // PEM
}

// RenewRequest is the body of a certificate renewal.
type RenewRequest struct {
	CSR string `json:"csr" required:"true"` // PEM
}

// Enrolment is the response to an enrolment and to a renewal: the certificate, and
// the settings of heartbeats.
type Enrolment struct {
	Kind            desktop.Kind   `json:"kind"`
	ID              desktop.ID     `json:"id"`
	Name            string         `json:"name"`
	Certificate     string         `json:"certificate"` // PEM
	Authority       string         `json:"authority"`   // PEM
	NotAfter        desktop.Millis `json:"not_after"`
	RenewAfter      desktop.Millis `json:"renew_after"`
	HeartbeatPath   string         `json:"heartbeat_path"`
	IntervalSeconds int            `json:"interval_seconds"`
}

// AgentStatus is what the server knows about an agent: its response to a request of that agent.
type AgentStatus struct {
	Kind            desktop.Kind   `json:"kind"`
	ID              desktop.ID     `json:"id"`
	Name            string         `json:"name"`
	LastSequence    int64          `json:"last_sequence"` // 0 if it has not reported
	LastBeat        desktop.Millis `json:"last_beat"`
	HeartbeatPath   string         `json:"heartbeat_path"`
	IntervalSeconds int            `json:"interval_seconds"`
	RenewAfter      desktop.Millis `json:"renew_after"`
	ServerTime      desktop.Millis `json:"server_time"`
}

// Receipt is the response to a report.
type Receipt struct {
	ServerTime      desktop.Millis `json:"server_time"`
	IntervalSeconds int            `json:"interval_seconds"`
	Renew           bool           `json:"renew"` // the certificate should be renewed now
}

// Stamp contains the sequence number and time of a report.
type Stamp struct {
	Sequence int64          `json:"sequence" required:"true"` // increases with every report of a machine
	SentAt   desktop.Millis `json:"sent_at"`                  // by the machine's clock, for diagnosis only
}

// GatewayReport is the report of a gateway.
type GatewayReport struct {
	Stamp
	desktop.GatewayBeat
}

// AgentReport is the report of the agent of an RDS server.
type AgentReport struct {
	Stamp
	desktop.AgentBeat
}

// Validate checks the values.
func (r GatewayReport) Validate() error {
	var c checks
	c.stamp(r.Stamp)
	c.text("version", r.Version, 64)
	c.count("blast_connection_count", r.BlastConnections)
	c.count("pcoip_connection_count", r.PCoIPConnections)
	c.problems(r.Problems)
	return c.fault()
}

// Validate checks the values.
func (r AgentReport) Validate() error {
	var c checks
	c.stamp(r.Stamp)
	c.text("agent_version", r.AgentVersion, 64)
	c.text("agent_build", r.AgentBuild, 64)
	c.require("operating_system", r.OperatingSystem.Known(), "is not a known operating system")
	c.require("state", r.State == "" || r.State.Known(), "is not a known state")
	c.require("load_index", r.LoadIndex == nil || *r.LoadIndex >= 0 && *r.LoadIndex <= 100, "must be from 0 to 100")
	c.count("session_count", r.SessionCount)
	c.problems(r.Problems)
	return c.fault()
}

// checks collects validation errors of a report.
type checks []fault.Detail

func (c *checks) require(path string, ok bool, message string) {
	if !ok {
		*c = append(*c, fault.Detail{Path: path, Message: message})
	}
}

func (c *checks) stamp(s Stamp) {
	c.require("sequence", s.Sequence > 0, "must be above 0")
}

func (c *checks) count(path string, n int) {
	c.require(path, n >= 0 && n <= math.MaxInt32, "must be from 0 to 2147483647")
}

func (c *checks) text(path, s string, limit int) {
	c.require(path, utf8.RuneCountInString(s) <= limit, fmt.Sprintf("must not be longer than %d characters", limit))
	for _, r := range s {
		if !unicode.IsPrint(r) {
			c.require(path, false, "must be printable")
			return
		}
	}
}

// maxProblems is the number of problems that a report may have, so that one machine
// cannot fill the lists of the monitoring API.
const maxProblems = 16

func (c *checks) problems(list []string) {
	c.require("problems", len(list) <= maxProblems, fmt.Sprintf("must not be more than %d", maxProblems))
	for i, p := range list[:min(len(list), maxProblems)] {
		c.text(fmt.Sprintf("problems[%d]", i), p, 256)
	}
}

func (c checks) fault() error {
	if len(c) == 0 {
		return nil
	}
	return fault.Fields(c...)
}
