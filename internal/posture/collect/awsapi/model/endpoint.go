package model

import (
	"errors"
	"fmt"
	"strings"
)

// Endpoints are the addresses of a service by partition, such as "aws-cn". Those that are
// validated by FIPS 140 have keys such as "aws-cn+fips". Addresses of the default form are omitted.
type Endpoints map[string]Addresses

// Addresses are a form for all regions, and exceptions for some.
type Addresses struct {
	None    bool                 `json:"none"` // the service is not in the partition
	Default *Endpoint            `json:"d"`    // nil for the default form
	Regions map[string]*Endpoint `json:"x"`    // nil when the service is not in the region
}

// An Endpoint is the host of a service and the scope of its signatures.
type Endpoint struct {
	Host          string `json:"h"`
	SigningName   string `json:"n"`
	SigningRegion string `json:"r"`
}

// ErrNoEndpoint is the error that a service is not offered in a region or partition.
var ErrNoEndpoint = errors.New("no such endpoint")

// PartitionOf returns the partition of a region.
func PartitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// Endpoint returns the endpoint of an operation in a region. Services that are global in
// their partition have the same endpoint in all of its regions.
func (op *Operation) Endpoint(region string, fips bool) (Endpoint, error) {
	s, partition := op.Service, PartitionOf(region)
	table := s.Endpoints
	if op.Own != nil {
		table = *op.Own
	}
	key, prefix, suffix := partition, s.EndpointPrefix, "amazonaws.com"
	if partition == "aws-cn" {
		suffix = "amazonaws.com.cn"
	}
	if fips {
		key, prefix = key+"+fips", prefix+"-fips"
	}
	found := &Endpoint{Host: prefix + ".{region}." + suffix}
	if a, ok := table[key]; ok {
		special, listed := a.Regions[region]
		switch {
		case listed:
			found = special
		case a.None:
			found = nil
		case a.Default != nil:
			found = a.Default
		}
	}
	if found == nil {
		return Endpoint{}, fmt.Errorf("%s in %s: %w", s.Name, region, ErrNoEndpoint)
	}
	e := *found
	e.Host = strings.ReplaceAll(e.Host, "{region}", region)
	if e.SigningName == "" {
		e.SigningName = s.SigningName
	}
	if e.SigningRegion == "" {
		e.SigningRegion = region
	}
	return e, nil
}
