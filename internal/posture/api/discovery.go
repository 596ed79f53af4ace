package api

import (
	"context"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
)

type (
	discoverIn struct {
		ServiceAccountKey string `json:"serviceAccountKey" required:"true"`
	}
	project struct {
		CreationTime   httpapi.Time      `json:"creationTime"`
		Tags           map[string]string `json:"tags"`
		LifecycleState string            `json:"lifecycleState"`
		Name           string            `json:"name"`
		ProjectID      string            `json:"projectId"`
		ProjectNumber  string            `json:"projectNumber"`
	}
	discovered struct {
		Projects []project `json:"projects"`
	}

	discoverMembersIn struct {
		RoleArn    string `json:"roleArn" required:"true"`
		ExternalID string `json:"externalId"`
	}
	member struct {
		AccountID string `json:"accountId"`
		Name      string `json:"name"`
		Email     string `json:"email"`
		State     string `json:"state"`
		IsRoot    bool   `json:"isRoot"`
	}
	discoveredMembers struct {
		Accounts []member `json:"accounts"`
	}

	discoverSubscriptionsIn struct {
		ApplicationID   string `json:"applicationId" required:"true"`
		ApplicationKey  string `json:"applicationKey" required:"true"`
		DirectoryID     string `json:"directoryId" required:"true"`
		AccountType     string `json:"accountType" enum:"Commercial,Government"`
		ManagementGroup string `json:"managementGroupId"`
	}
	subscription struct {
		SubscriptionID string `json:"subscriptionId"`
		Name           string `json:"name"`
		State          string `json:"state"`
	}
	discoveredSubscriptions struct {
		Subscriptions []subscription `json:"subscriptions"`
	}
)

func projectOf(p posture.Project) project {
	w := project{httpapi.Time{Time: p.Created}, p.Labels, p.State, p.Name, p.ID, p.Number}
	if w.Tags == nil {
		w.Tags = map[string]string{}
	}
	return w
}

func (a *API) discover(ctx context.Context, in discoverIn) (discovered, error) {
	key, problem := posture.ParseServiceAccountKey(in.ServiceAccountKey)
	if problem != "" {
		return discovered{}, fault.Field("serviceAccountKey", "%s", problem)
	}
	found, err := a.Cloud.Discover(ctx, key)
	return discovered{httpapi.Each(found, projectOf)}, err
}

// A givenProperty is a property of a credential and the member of the request that holds its
// value.
type givenProperty struct{ name, value, member string }

// unsavedAccess returns access to an account with a credential that is not stored. Errors name
// the members of the request instead of the properties.
func (a *API) unsavedAccess(ctx context.Context, account posture.Account, given ...givenProperty) (posture.Access, error) {
	var properties []posture.Property
	for _, g := range given {
		properties = append(properties, posture.Text(g.name, g.value))
	}
	credential, secrets, err := posture.NewCredential("", account.Provider, properties, a.Now())
	bad := fault.Details(err)
	for i, d := range bad {
		for n, g := range given {
			if strings.HasPrefix(d.Path, index("properties", n)) {
				_, message, _ := strings.Cut(d.Message, ") ") // without "(property) "
				bad[i] = fault.Detail{Path: g.member, Message: message}
			}
		}
	}
	if len(bad) > 0 {
		return posture.Access{}, fault.Fields(bad...)
	}
	return posture.Access{Org: a.Org(ctx), Account: account, Credential: credential, Secrets: secrets}, err
}

func (a *API) discoverMembers(ctx context.Context, in discoverMembersIn) (discoveredMembers, error) {
	// arn:partition:iam::account:role/name. With the added parts, parts[4] also exists if the ARN is invalid.
	parts := append(strings.Split(in.RoleArn, ":"), "", "", "", "", "")
	account := posture.Account{Provider: posture.AWS, ID: posture.AccountID(parts[4])}
	given := []givenProperty{{posture.PropRoleArn, in.RoleArn, "roleArn"}}
	if in.ExternalID != "" {
		given = append(given, givenProperty{posture.PropExternalID, in.ExternalID, "externalId"})
	}
	access, err := a.unsavedAccess(ctx, account, given...)
	if err == nil && in.ExternalID != "" {
		err = a.Store.CheckExternalID(ctx, a.Org(ctx), in.ExternalID)
		if fault.Is(err, fault.Conflict) {
			err = fault.Field("externalId", "%s", onboard.ForeignExternalID)
		}
	}
	if err != nil {
		return discoveredMembers{}, err
	}
	found, err := a.Cloud.Members(ctx, access)
	return discoveredMembers{httpapi.Each(found, func(m posture.Member) member {
		return member{string(m.ID), m.Name, m.Email, m.State, m.Root}
	})}, err
}

func (a *API) discoverSubscriptions(ctx context.Context, in discoverSubscriptionsIn) (discoveredSubscriptions, error) {
	account := posture.Account{Provider: posture.Azure}
	if in.AccountType != "" {
		account.Properties = []posture.Property{posture.Text("AccountType", in.AccountType)}
	}
	access, err := a.unsavedAccess(ctx, account, givenProperty{posture.PropApplicationID, in.ApplicationID, "applicationId"},
		givenProperty{posture.PropApplicationKey, in.ApplicationKey, "applicationKey"}, givenProperty{posture.PropDirectoryID, in.DirectoryID, "directoryId"})
	if err != nil {
		return discoveredSubscriptions{}, err
	}
	found, err := a.Cloud.Subscriptions(ctx, access, in.ManagementGroup)
	return discoveredSubscriptions{httpapi.Each(found, func(s posture.Subscription) subscription {
		return subscription{string(s.ID), s.Name, s.State}
	})}, err
}
