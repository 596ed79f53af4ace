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
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// A session reads one account.
type session struct {
	account     posture.AccountID
	chosen      []string // regions to read; empty for all
	partition   partition
	catalog     *resource.Catalog
	types       []typeOfService // in the order in which they are read
	client      *awsapi.Client
	credentials *aws.CredentialsCache
	earlier     *collect.EarlierAnswers // nil in a scan, which has no earlier run
	lookupHost  func(ctx context.Context, host string) ([]string, error)
	disabled    atomic.Pointer[[]string] // regions that are not enabled; nil until regions are listed
}

func (src *Source) newSession(a posture.Access, role arn.ARN) (*session, error) {
	s := &session{
		account: a.Account.ID, chosen: a.Account.Collection.Regions, partition: partitions[role.Partition], catalog: src.options.Catalog, types: src.types,
		earlier: src.earlier.Of(a.Org, a.Account.ID), lookupHost: src.options.LookupHost,
	}
	var err error
	if s.credentials, err = src.assume(s.partition, role, a.Credential.Property(posture.PropExternalID)); err != nil {
		return nil, err
	}
	s.client, err = src.client(s.credentials, s.account)
	return s, err
}

// in returns the transport of a region, or of the partition's home region for global
// resources.
func (s *session) in(region string) transport {
	if region == posture.Global {
		region = s.partition.homeRegion
	}
	return transport{s, region}
}

// reader returns the reader of declared types in a region.
func (s *session) reader(region string, answers *collect.Answers) *collect.Reader {
	return &collect.Reader{
		Catalog: s.catalog, Transport: s.in(region), Answers: answers,
		Context: resource.Context{
			Vars:  resource.Vars{Account: s.account, Region: region, Partition: s.partition.name},
			Cloud: naming.AWS{Catalog: s.catalog},
		},
	}
}

// Units implements [collect.Session]. When the role may not list regions, it returns
// the units of the chosen regions, or else of the home region, so that each unit reports
// its missing permission.
func (s *session) Units(ctx context.Context) ([]collect.Unit, error) {
	regions, disabled, err := s.regions(ctx)
	if errors.Is(err, collect.ErrDenied) {
		regions, err = slices.Clone(s.chosen), nil
		if len(regions) == 0 {
			regions = []string{s.partition.homeRegion}
		}
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(regions)
	s.disabled.Store(&disabled)
	answers := collect.NewAnswers()
	read := func(scope resource.Scope, region string) []collect.Unit {
		reader := s.reader(region, answers)
		reader.Earlier = s.earlier // only here: the reader of Unit reads after an event, so the resource has probably changed
		return s.units(scope, reader)
	}
	units := read(resource.PerAccount, posture.Global)
	for _, region := range regions {
		units = append(units, read(resource.PerRegion, region)...)
	}
	return units, nil
}

func (s *session) units(scope resource.Scope, r *collect.Reader) (units []collect.Unit) {
	for _, t := range s.types {
		if t.Scope == scope {
			units = append(units, r.Unit(t.Type, t.service))
		}
	}
	return units
}

// Closed implements [collect.Regional].
func (s *session) Closed(region string) bool {
	disabled := s.disabled.Load()
	return disabled != nil && slices.Contains(*disabled, region)
}

// Unit implements [collect.Session].
func (s *session) Unit(name posture.EntityType, region string) (collect.Unit, bool) {
	t := s.catalog.Type(name)
	if t == nil || name.Provider() != posture.AWS {
		return collect.Unit{}, false
	}
	if t.Scope == resource.PerAccount {
		region = posture.Global
	}
	return s.reader(region, nil).Unit(t, collect.ServiceOf(s.catalog, t, conventions{})), true
}

// Close implements [collect.Session].
func (s *session) Close() { s.credentials.Invalidate() }

// A partition is a part of AWS with its own identities and host names.
type partition struct {
	name       string
	homeRegion string // the region of global resources
}

// partitions by the second part of ARNs.
var partitions = map[string]partition{
	"aws":        {"aws", "us-east-1"},
	"aws-us-gov": {"aws-us-gov", "us-gov-west-1"},
	"aws-cn":     {"aws-cn", "cn-north-1"},
}
