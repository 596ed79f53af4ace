package azure

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const managementVersion = "2020-05-01"

// Subscriptions lists the subscriptions at any depth below a management group; see
// [posture.Cloud].
func (src *Source) Subscriptions(ctx context.Context, a posture.Access, group string) ([]posture.Subscription, error) {
	if strings.ContainsAny(group, "/?#%") {
		return nil, fault.New(fault.Invalid, "a management group must be an id, without a path")
	}
	all, err := src.subscriptions(ctx, a, group)
	switch {
	case err == nil:
		return all, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, collect.ErrIdentity), errors.Is(err, collect.ErrDenied):
		return nil, fault.Wrap(fault.Invalid, err, "Azure refuses to list the subscriptions: %s", err)
	}
	return nil, fault.Wrap(fault.Unavailable, err, "Azure cannot list the subscriptions now; try again later")
}

func (src *Source) subscriptions(ctx context.Context, a posture.Access, group string) ([]posture.Subscription, error) {
	s, err := src.newSession(a)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	address, permission := s.arm("/subscriptions", subscriptionVersion), "Microsoft.Resources/subscriptions/read"
	if group != "" {
		address = s.arm("/providers/Microsoft.Management/managementGroups/"+group+"/descendants", managementVersion)
		permission = "Microsoft.Management/managementGroups/descendants/read"
	}
	all := []posture.Subscription{}
	const keep = false // no other type needs the list
	err = s.pages(ctx, address, permission, keep, func(page gjson.Result) error {
		for _, j := range page.Get("value").Array() {
			id := j.Get("subscriptionId").String()
			if group != "" {
				if !strings.HasSuffix(strings.ToLower(j.Get("type").String()), "/subscriptions") {
					continue // an intermediate management group
				}
				id = j.Get("name").String()
			}
			all = append(all, posture.Subscription{
				ID: posture.AccountID(strings.ToLower(id)), State: j.Get("state").String(),
				Name: cmp.Or(j.Get("displayName").String(), j.Get("properties.displayName").String()),
			})
		}
		return nil
	})
	if errors.Is(err, collect.ErrGone) { // Azure hides groups on which the principal has no role
		err = &collect.DeniedError{Permission: permission, Err: err}
	}
	return all, err
}
