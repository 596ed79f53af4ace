package aws

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A Caller is the identity that AWS reports for our credentials.
type Caller struct {
	Account posture.AccountID
	ARN     string
}

// Caller requests our identity from AWS. It fails with [collect.ErrIdentity] when there
// are no credentials or AWS does not accept them.
func (src *Source) Caller(ctx context.Context) (Caller, error) {
	if _, err := src.credentials.Retrieve(ctx); err != nil {
		return Caller{}, &identityError{"no credentials for AWS were found in the environment: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE after aws configure or aws sso login", err}
	}
	client, err := src.ownClient()
	if err != nil {
		return Caller{}, err
	}
	answer, err := client.Call(ctx, "sts", "GetCallerIdentity", src.callerRegion(ctx), nil)
	if err != nil {
		return Caller{}, fmt.Errorf("request the caller identity: %w", classify(err, "sts:GetCallerIdentity"))
	}
	return Caller{posture.AccountID(gjson.Get(answer, "Account").String()), gjson.Get(answer, "Arn").String()}, nil
}

// callerRegion returns the region in which to request the caller identity. Credentials
// are valid in one partition only, and the configured region determines it.
func (src *Source) callerRegion(ctx context.Context) string {
	partition := "aws"
	if cfg, err := src.options.Identity.config(ctx); err == nil {
		switch {
		case strings.HasPrefix(cfg.Region, "us-gov-"):
			partition = "aws-us-gov"
		case strings.HasPrefix(cfg.Region, "cn-"):
			partition = "aws-cn"
		}
	}
	return partitions[partition].homeRegion
}

// openOwn opens the account that Vigil's own credentials belong to; see [Options.OwnAccount].
func (src *Source) openOwn(ctx context.Context, a posture.Access) (*session, error) {
	caller, err := src.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if caller.Account != a.Account.ID {
		return nil, fmt.Errorf("%w: it belongs to account %s, not to %s", collect.ErrIdentity, caller.Account, a.Account.ID)
	}
	name, err := arn.Parse(caller.ARN)
	if err != nil {
		return nil, fmt.Errorf("parse the caller identity: %w", err)
	}
	part, ok := partitions[name.Partition]
	if !ok {
		return nil, fmt.Errorf("unknown AWS partition %q", name.Partition)
	}
	s := &session{
		account: a.Account.ID, chosen: a.Account.Collection.Regions, partition: part, catalog: src.options.Catalog, types: src.types,
		lookupHost: src.options.LookupHost, credentials: src.credentials,
	}
	s.client, err = src.client(src.credentials, s.account)
	return s, err
}
