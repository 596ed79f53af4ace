package azure

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const managementVersion = "2020-05-01"

// A Subscription is one that an application sees.
type Subscription struct {
	ID    posture.AccountID
	Name  string
	State string // Enabled, Warned, PastDue, Disabled; "" when it is not told
}

// Subscriptions lists the subscriptions below a management group, however deep,
// or all that the application sees when the group is empty. Of the account only
// the cloud that it is in matters.
func (src *Source) Subscriptions(ctx context.Context, a posture.Access, group string) ([]Subscription, error) {
	s, err := src.newSession(a)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	address, permission := s.arm("/subscriptions", subscriptionVersion), "Microsoft.Resources/subscriptions/read"
	if group != "" {
		if strings.ContainsAny(group, "/?#%") {
			return nil, errors.New("a management group is named by its id alone")
		}
		address = s.arm("/providers/Microsoft.Management/managementGroups/"+group+"/descendants", managementVersion)
		permission = "Microsoft.Management/managementGroups/descendants/read"
	}
	var all []Subscription
	err = s.pages(ctx, address, permission, false, func(page gjson.Result) error {
		for _, j := range page.Get("value").Array() {
			id := j.Get("subscriptionId").String()
			if group != "" {
				if !strings.HasSuffix(strings.ToLower(j.Get("type").String()), "/subscriptions") {
					continue // a management group in between
				}
				id = j.Get("name").String()
			}
			all = append(all, Subscription{
				ID: posture.AccountID(strings.ToLower(id)), State: j.Get("state").String(),
				Name: cmp.Or(j.Get("displayName").String(), j.Get("properties.displayName").String()),
			})
		}
		return nil
	})
	if errors.Is(err, collect.ErrGone) { // Azure hides groups that a principal has no role on
		err = &collect.DeniedError{Permission: permission, Err: err}
	}
	return all, err
}
