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
	relationship struct {
		CloudAccountID string       `json:"cloudAccountId"`
		CredentialID   string       `json:"credentialId"`
		ETag           string       `json:"eTag"`
		CreatedTime    httpapi.Time `json:"createdTime"`
		LastUpdateTime httpapi.Time `json:"lastUpdateTime"`
	}
	addLinkIn struct {
		providerPath
		CloudAccountID string `json:"cloudAccountId" required:"true"`
		CredentialID   string `json:"credentialId" required:"true"`
	}
	deleteLinkIn struct {
		providerPath
		Pair    string        `path:"pair"` // account and credential, joined by an underscore
		IfMatch httpapi.Match `header:"If-Match"`
	}
)

func relationshipOf(l posture.Link) relationship {
	return relationship{
		CloudAccountID: string(l.Account), CredentialID: string(l.Credential), ETag: l.ETag,
		CreatedTime: httpapi.Time{Time: l.Created}, LastUpdateTime: httpapi.Time{Time: l.Updated},
	}
}

func (a *API) addLink(ctx context.Context, in addLinkIn) (httpapi.Reply, error) {
	p, err := in.provider()
	if err != nil {
		return httpapi.Reply{}, err
	}
	done, err := a.Onboarding.Apply(ctx, a.Org(ctx), onboard.Changes{Provider: p, Links: []onboard.LinkChange{{
		Action: onboard.Post, Account: posture.AccountID(in.CloudAccountID), Credential: posture.CredentialID(in.CredentialID),
	}}})
	l, err := one(done.Links, err)
	switch {
	case err != nil:
		return httpapi.Reply{}, err
	case done.Existed[0]:
		return httpapi.Tagged(l.ETag, relationshipOf(l)), nil
	}
	location := "/v1/providers/" + string(p) + "/account-credential-relationship/" + string(l.Account) + "_" + string(l.Credential)
	return httpapi.Created(location, l.ETag, relationshipOf(l)), nil
}

func (a *API) deleteLink(ctx context.Context, in deleteLinkIn) (relationship, error) {
	p, err := in.provider()
	if err != nil {
		return relationship{}, err
	}
	// Account ids contain no underscore, so the first one is the separator.
	account, credential, ok := strings.Cut(in.Pair, "_")
	if !ok {
		return relationship{}, fault.New(fault.NotFound, "there is no link %q", in.Pair)
	}
	done, err := a.Onboarding.Apply(ctx, a.Org(ctx), onboard.Changes{Provider: p, Links: []onboard.LinkChange{{
		Action: onboard.Delete, Account: posture.AccountID(account), Credential: posture.CredentialID(credential), IfMatch: in.IfMatch.Versions(),
	}}})
	l, err := one(done.Links, err)
	return relationshipOf(l), err
}
