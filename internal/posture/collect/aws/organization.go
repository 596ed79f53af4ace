package aws

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/tidwall/gjson"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
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
		return nil, fault.Wrap(fault.Invalid, err, "AWS refuses to list the members: %s", err)
	}
	return nil, fault.Wrap(fault.Unavailable, err, "AWS cannot list the members now; try again later")
}

func (src *Source) members(ctx context.Context, a posture.Access) ([]posture.Member, error) {
	s, err := src.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	client := s.in(posture.Global)
	management := ""
	err = client.Pages(ctx, &resource.Request{Call: "organizations.DescribeOrganization"}, "organizations.DescribeOrganization", []byte("{}"), func(answer gjson.Result) error {
		management = answer.Get("Organization.MasterAccountId").String()
		return nil
	})
	if err != nil {
		return nil, err
	}
	members := []posture.Member{}
	err = client.Pages(ctx, &resource.Request{Call: "organizations.ListAccounts"}, "organizations.ListAccounts", []byte("{}"), func(answer gjson.Result) error {
		for _, m := range answer.Get("Accounts").Array() {
			id := m.Get("Id").String()
			members = append(members, posture.Member{
				ID: posture.AccountID(id), Name: m.Get("Name").String(), Email: m.Get("Email").String(), State: m.Get("State").String(), Root: id == management,
			})
		}
		return nil
	})
	return members, err
}

// ownName caches the principal of Vigil, which does not change while it runs.
type ownName struct {
	mu   sync.Mutex
	name string
}

// Principal returns the AWS principal of Vigil; see [posture.Cloud].
func (src *Source) Principal(ctx context.Context) (string, error) {
	src.self.mu.Lock()
	defer src.self.mu.Unlock()
	if src.self.name != "" {
		return src.self.name, nil
	}
	client, err := src.ownClient()
	if err != nil {
		return "", err
	}
	answer, err := client.Call(ctx, "sts", "GetCallerIdentity", src.callerRegion(ctx), nil)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "AWS cannot identify Vigil now; try again later")
	}
	src.self.name = principalOf(gjson.Get(answer, "Arn").String())
	return src.self.name, nil
}

// principalOf returns the principal that trust policies must name to trust a caller. If the
// caller is a session of a role, that is the role. The ARN of a session lacks the path of its
// role, so the result is wrong for a role that has a path.
func principalOf(caller string) string {
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
