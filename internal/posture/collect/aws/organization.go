package aws

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Members lists the accounts of the organisation that an account manages; see
// [posture.Cloud].
func (src *Source) Members(ctx context.Context, a posture.Access) ([]posture.Member, error) {
	members, err := src.members(ctx, a)
	switch {
	case err == nil:
		return members, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, collect.ErrOff):
		return nil, fault.Wrap(fault.Invalid, err, "account %s is in no organisation", a.Account.ID)
	case errors.Is(err, collect.ErrIdentity), errors.Is(err, collect.ErrDenied):
		return nil, fault.Wrap(fault.Invalid, err, "AWS does not tell the members: %s", err)
	}
	return nil, fault.Wrap(fault.Unavailable, err, "AWS cannot be asked for members now")
}

func (src *Source) members(ctx context.Context, a posture.Access) ([]posture.Member, error) {
	s, err := src.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	client := organizations.NewFromConfig(s.scope(posture.Global).config)
	about, err := client.DescribeOrganization(ctx, &organizations.DescribeOrganizationInput{})
	if err != nil {
		return nil, plain(err)
	}
	members := []posture.Member{}
	err = each(ctx, organizations.NewListAccountsPaginator(client, &organizations.ListAccountsInput{}), func(out *organizations.ListAccountsOutput) error {
		for _, m := range out.Accounts {
			id := aws.ToString(m.Id)
			members = append(members, posture.Member{
				ID: posture.AccountID(id), Name: aws.ToString(m.Name), Email: aws.ToString(m.Email), State: string(m.State),
				Root: id == aws.ToString(about.Organization.MasterAccountId),
			})
		}
		return nil
	})
	return members, plain(err)
}

// ownName remembers what we are, which does not change while we run.
type ownName struct {
	mu   sync.Mutex
	name string
}

// Principal names what we are to AWS; see [posture.Cloud].
func (src *Source) Principal(ctx context.Context) (string, error) {
	src.self.mu.Lock()
	defer src.self.mu.Unlock()
	if src.self.name != "" {
		return src.self.name, nil
	}
	base := src.base.Copy()
	base.Region = partitions["aws"].home
	out, err := sts.NewFromConfig(base).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "AWS does not tell who we are")
	}
	src.self.name = trustable(aws.ToString(out.Arn))
	return src.self.name, nil
}

// trustable returns what a trust policy names: for a session of a role the role.
// A role's path is not in the name of its sessions, so a role that is to be
// trusted is best made without one.
func trustable(caller string) string {
	a, err := arn.Parse(caller)
	if err != nil {
		return caller
	}
	if name, ok := strings.CutPrefix(a.Resource, "assumed-role/"); ok {
		name, _, _ = strings.Cut(name, "/")
		a.Service, a.Resource = "iam", "role/"+name
	}
	return a.String()
}
