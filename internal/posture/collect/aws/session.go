package aws

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A session reads one account.
type session struct {
	account     posture.AccountID
	partition   partition
	config      aws.Config // without a region
	credentials *aws.CredentialsCache
	report      report
	closed      atomic.Pointer[[]string] // regions that are not enabled, once they were listed
}

// A scope is a session bound to a region, or to none.
type scope struct {
	*session
	region string     // posture.Global for what belongs to none
	config aws.Config // of the region, or of the partition's home
}

func (src *Source) newSession(a posture.Access, role arn.ARN) *session {
	s := &session{account: a.Account.ID, partition: partitions[role.Partition]}
	s.credentials = src.assume(s.partition, role, a.Credential.Property(posture.PropExternalID))
	s.config = aws.Config{
		HTTPClient:  src.options.HTTP,
		Credentials: s.credentials,
		Retryer:     func() aws.Retryer { return newRetryer(src.options, s.credentials.Invalidate) },
	}
	s.config.APIOptions = append(s.config.APIOptions, timed(src.options.Timeout), limited(src.options.Limiter, s.account), src.classified)
	return s
}

// scope binds the session to a region.
func (s *session) scope(region string) *scope {
	config := s.config.Copy()
	config.Region = region
	if region == posture.Global {
		config.Region = s.partition.home
	}
	return &scope{session: s, region: region, config: config}
}

// Units implements [collect.Session]. Where the regions may not be listed it
// returns those of the home region, so that each collector says what it misses.
func (s *session) Units(ctx context.Context) ([]collect.Unit, error) {
	regions, closed, err := s.regions(ctx)
	if errors.Is(err, collect.ErrDenied) {
		regions, err = []string{s.partition.home}, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(regions)
	s.closed.Store(&closed)
	var units []collect.Unit
	account := s.scope(posture.Global)
	for _, c := range collectors {
		if c.Scope == collect.PerAccount {
			units = append(units, collect.Bind(c, account, posture.Global))
		}
	}
	for _, region := range regions {
		here := s.scope(region)
		for _, c := range collectors {
			if c.Scope == collect.PerRegion {
				units = append(units, collect.Bind(c, here, region))
			}
		}
	}
	return units, nil
}

// Closed implements [collect.Regional].
func (s *session) Closed(region string) bool {
	closed := s.closed.Load()
	return closed != nil && slices.Contains(*closed, region)
}

// Unit implements [collect.Session].
func (s *session) Unit(t posture.EntityType, region string) (collect.Unit, bool) {
	i := slices.IndexFunc(collectors, func(c collector) bool { return c.Type == t })
	if i < 0 {
		return collect.Unit{}, false
	}
	if collectors[i].Scope == collect.PerAccount {
		region = posture.Global
	}
	return collect.Bind(collectors[i], s.scope(region), region), true
}

// Close implements [collect.Session].
func (s *session) Close() { s.credentials.Invalidate() }

// A partition is a part of AWS with identities and host names of its own.
type partition struct {
	name string
	home string // the region of what belongs to none
}

// partitions by the second part of resource names.
var partitions = map[string]partition{
	"aws":        {"aws", "us-east-1"},
	"aws-us-gov": {"aws-us-gov", "us-gov-west-1"},
	"aws-cn":     {"aws-cn", "cn-north-1"},
}
