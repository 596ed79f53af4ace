package api

import (
	"context"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
)

type (
	// credential is the wire form of a credential. It has no secrets, which package
	// posture keeps separately.
	credential struct {
		CredentialID   string       `json:"credentialId"`
		CredentialType string       `json:"credentialType"`
		Provider       string       `json:"provider"`
		Properties     []property   `json:"properties"`
		ETag           string       `json:"eTag"`
		CreatedTime    httpapi.Time `json:"createdTime"`
		LastUpdateTime httpapi.Time `json:"lastUpdateTime"`
	}
	credentialBody struct {
		CredentialType string     `json:"credentialType" enum:"collection"`
		Provider       string     `json:"provider"`
		Properties     []property `json:"properties" maxItems:"50"`
	}
	credentialPath struct {
		providerPath
		CredentialID string `path:"credential_id"`
	}
	addCredentialIn struct {
		providerPath
		credentialBody
	}
	putCredentialIn struct {
		credentialPath
		credentialBody
		IfMatch httpapi.Match `header:"If-Match"`
	}
	deleteCredentialIn struct {
		credentialPath
		IfMatch httpapi.Match `header:"If-Match"`
	}
	credentialQuery struct {
		Filters struct {
			Providers []string `json:"providers"`
		} `json:"filters" null:"absent"`
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings
	}
	credentialPage struct {
		TotalCount        int          `json:"totalCount"`
		Credentials       []credential `json:"credentials"`
		ContinuationToken string       `json:"continuationToken,omitempty"`
		Warnings          []string     `json:"warnings,omitempty"`
	}
)

// credentialOf returns the wire form of a credential for the caller: only
// administrators see external ids.
func credentialOf(ctx context.Context, c posture.Credential) credential {
	properties := c.Properties
	if !httpapi.CallerOf(ctx).Admin {
		properties = slices.DeleteFunc(slices.Clone(properties), func(p posture.Property) bool { return p.Name == posture.PropExternalID })
	}
	return credential{
		CredentialID: string(c.ID), CredentialType: posture.CredentialCollection, Provider: string(c.Provider),
		Properties: httpapi.Each(properties, propertyOf), ETag: c.ETag,
		CreatedTime: httpapi.Time{Time: c.Created}, LastUpdateTime: httpapi.Time{Time: c.Updated},
	}
}

func credentialsOf(ctx context.Context, all []posture.Credential) []credential {
	return httpapi.Each(all, func(c posture.Credential) credential { return credentialOf(ctx, c) })
}

func (b credentialBody) properties(p posture.Provider) ([]posture.Property, error) {
	if err := sameProvider(p, b.Provider); err != nil {
		return nil, err
	}
	return givenProperties(b.Properties)
}

func (a *API) queryCredentials(ctx context.Context, in credentialQuery) (credentialPage, error) {
	list := listing{"cloud-credentials", &in.Filters}
	want, err := a.page(ctx, list, in.Pagination, everything)
	if err != nil {
		return credentialPage{}, err
	}
	var bad []fault.Detail
	providers := checkKnown("filters.providers", in.Filters.Providers, posture.Providers, &bad)
	if len(bad) > 0 {
		return credentialPage{}, fault.Fields(bad...)
	}
	found, total, err := a.Store.Credentials(ctx, a.Org(ctx), providers, withOneMore(want))
	if err != nil {
		return credentialPage{}, err
	}
	found, token, err := endPage(ctx, a, list, want, found, func(c posture.Credential) string { return string(c.ID) })
	return credentialPage{TotalCount: total, Credentials: credentialsOf(ctx, found), ContinuationToken: token, Warnings: in.Warnings}, err
}

// applyCredential applies a change of one credential.
func (a *API) applyCredential(ctx context.Context, p posture.Provider, c onboard.CredentialChange) (posture.Credential, error) {
	done, err := a.Onboarding.Apply(ctx, a.Org(ctx), onboard.Changes{Provider: p, Credentials: []onboard.CredentialChange{c}})
	return one(done.Credentials, err)
}

func (a *API) addCredential(ctx context.Context, in addCredentialIn) (httpapi.Reply, error) {
	p, err := in.provider()
	if err != nil {
		return httpapi.Reply{}, err
	}
	ps, err := in.properties(p)
	if err != nil {
		return httpapi.Reply{}, err
	}
	done, err := a.applyCredential(ctx, p, onboard.CredentialChange{Action: onboard.Post, Properties: ps})
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/providers/"+string(p)+"/cloud-credentials/"+string(done.ID), done.ETag, credentialOf(ctx, done)), nil
}

func (a *API) getCredential(ctx context.Context, in credentialPath) (httpapi.Reply, error) {
	found, err := a.Store.Credential(ctx, a.Org(ctx), posture.CredentialID(in.CredentialID))
	if err != nil {
		return httpapi.Reply{}, err
	}
	if p, err := in.provider(); err != nil || p != found.Provider {
		return httpapi.Reply{}, fault.New(fault.NotFound, "credential %q was not found", in.CredentialID)
	}
	return httpapi.Tagged(found.ETag, credentialOf(ctx, found)), nil
}

func (a *API) putCredential(ctx context.Context, in putCredentialIn) (httpapi.Reply, error) {
	p, err := in.provider()
	if err != nil {
		return httpapi.Reply{}, err
	}
	ps, err := in.properties(p)
	if err != nil {
		return httpapi.Reply{}, err
	}
	done, err := a.applyCredential(ctx, p, onboard.CredentialChange{
		Action: onboard.Put, ID: posture.CredentialID(in.CredentialID), Properties: ps, IfMatch: in.IfMatch.Versions(),
	})
	return httpapi.Tagged(done.ETag, credentialOf(ctx, done)), err
}

func (a *API) deleteCredential(ctx context.Context, in deleteCredentialIn) (credential, error) {
	p, err := in.provider()
	if err != nil {
		return credential{}, err
	}
	done, err := a.applyCredential(ctx, p, onboard.CredentialChange{
		Action: onboard.Delete, ID: posture.CredentialID(in.CredentialID), IfMatch: in.IfMatch.Versions(),
	})
	return credentialOf(ctx, done), err
}

// issuedExternalID is the external id that the organisation's roles must require.
type issuedExternalID struct {
	ExternalID string `json:"externalId"`
}

func (a *API) externalID(ctx context.Context, _ httpapi.None) (issuedExternalID, error) {
	id, err := a.Store.ExternalID(ctx, a.Org(ctx))
	return issuedExternalID{id}, err
}
