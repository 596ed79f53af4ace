package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// SRV is a DNS service record.
type SRV = net.SRV

// systemResolver is the system's resolver.
type systemResolver struct{}

func (systemResolver) LookupSRV(ctx context.Context, service, proto, name string) (string, []*SRV, error) {
	return net.DefaultResolver.LookupSRV(ctx, service, proto, name)
}

// attempt limits the time for one controller: if it hangs, time remains for the
// next. The last controller gets lastAttempt.
const (
	attempt     = 6 * time.Second
	lastAttempt = 15 * time.Second
)

// penalty is how long a controller that did not answer is tried last.
const penalty = 30 * time.Second

// The ports of directories.
const (
	ldapPort  = 389
	ldapsPort = 636
)

// controllers returns the addresses of a domain's controllers. Those that
// recently did not answer are at the end.
func (c *Client) controllers(ctx context.Context, d *domain) ([]string, error) {
	port := ldapsPort
	if d.spec.StartTLS {
		port = ldapPort
	}
	addresses := slices.Clone(d.spec.Controllers)
	if len(addresses) == 0 {
		_, records, err := c.options.Resolver.LookupSRV(ctx, "ldap", "tcp", "dc._msdcs."+d.spec.DNSName)
		if err != nil || len(records) == 0 {
			return nil, &desktop.Failure{
				Cause: desktop.Unreachable, Reason: "DNS returned no controllers of " + d.spec.DNSName, Err: err,
			}
		}
		for _, r := range records { // the record's port is not used: it is that of plain LDAP
			addresses = append(addresses, strings.TrimSuffix(r.Target, "."))
		}
	}
	for i, a := range addresses {
		if _, _, err := net.SplitHostPort(a); err != nil {
			addresses[i] = net.JoinHostPort(a, strconv.Itoa(port))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := c.options.Now()
	penaltyOf := func(a string) int {
		if at, ok := d.failed[a]; ok && now.Sub(at) < penalty {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(addresses, func(a, b string) int { return cmp.Compare(penaltyOf(a), penaltyOf(b)) })
	return addresses, nil
}

// note records whether a controller answered. It ignores a request that was
// cancelled before an answer.
func (d *domain) note(ctx context.Context, controller string, at time.Time, answered bool) {
	if !answered && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if answered {
		delete(d.failed, controller)
	} else {
		d.failed[controller] = at
	}
}

// Silent returns the controllers of a domain that recently did not answer.
func (c *Client) Silent(id desktop.ID) []string {
	d, err := c.domain(id)
	if err != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := c.options.Now()
	var out []string
	for address, at := range d.failed {
		if now.Sub(at) < penalty {
			out = append(out, address)
		}
	}
	slices.Sort(out)
	return out
}

// with connects to a controller of the domain and calls do. It tries the next
// controller while that may help.
func (c *Client) with(ctx context.Context, d *domain, do func(*conn) error) error {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return &desktop.Failure{Cause: desktop.Unreachable, Reason: "too many connections to " + d.spec.DNSName, Err: ctx.Err()}
	}
	addresses, err := c.controllers(ctx, d)
	if err != nil {
		return err
	}
	var failures []*desktop.Failure
	for i, address := range addresses {
		limit := attempt
		if i == len(addresses)-1 {
			limit = lastAttempt
		}
		err := c.try(ctx, d, address, limit, do)
		if err == nil || !tryNext(err) {
			answered := err == nil || failureOf(address, err).Cause != desktop.Unreachable
			d.note(ctx, address, c.options.Now(), answered)
			if err == nil {
				return nil
			}
			if refusal, ok := errors.AsType[*Refusal](err); ok {
				return refusal // it is not a failure of the controller
			}
			return failureOf(address, err)
		}
		const answered = false // being too busy counts as no answer too
		d.note(ctx, address, c.options.Now(), answered)
		failures = append(failures, failureOf(address, err))
		if ctx.Err() != nil {
			break
		}
	}
	return joinFailures(failures)
}

func (c *Client) try(ctx context.Context, d *domain, address string, limit time.Duration, do func(*conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := func() error {
		conn, err := dial(ctx, d.spec, address, c.options.Now)
		if err != nil {
			return err
		}
		defer conn.close()
		return do(conn)
	}()
	if err == nil || ctx.Err() == nil {
		return err
	}
	timeout := fmt.Errorf("%w: %v", ctx.Err(), err) // the library only reports a closed connection
	if _, ok := errors.AsType[final](err); ok {
		return final{timeout}
	}
	return timeout
}

// joinFailures combines the failures of all controllers. The cause is the last
// one that is not Unreachable, or Unreachable if all are.
func joinFailures(failures []*desktop.Failure) error {
	joined := &desktop.Failure{Cause: desktop.Unreachable}
	var reasons []string
	for _, f := range failures {
		reasons = append(reasons, f.Reason)
		joined.Err = errors.Join(joined.Err, f)
		if f.Cause != desktop.Unreachable {
			joined.Cause = f.Cause
		}
	}
	joined.Reason = strings.Join(reasons, "; ")
	return joined
}

// pingAny pings the controllers over UDP until one answers, and returns its
// response and address.
func (c *Client) pingAny(ctx context.Context, d *domain) (Pong, string, error) {
	addresses, err := c.controllers(ctx, d)
	if err != nil {
		return Pong{}, "", err
	}
	var failures []*desktop.Failure
	for _, address := range addresses {
		pong, err := Ping(ctx, pingAddress(d.spec, address), d.spec.DNSName)
		if err == nil {
			return pong, address, nil
		}
		failures = append(failures, reach.Failure(address, fmt.Errorf("ping: %w", err)))
	}
	return Pong{}, "", joinFailures(failures)
}

// pingAddress returns the address of a controller for pings, on the port of
// plain LDAP: with StartTLS, that is the controller's own.
func pingAddress(d desktop.Domain, controller string) string {
	host, port, err := net.SplitHostPort(controller)
	if err != nil || d.StartTLS && port != "" {
		return controller
	}
	return net.JoinHostPort(host, strconv.Itoa(ldapPort))
}
