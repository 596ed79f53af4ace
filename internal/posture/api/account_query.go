package api

import (
	"context"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	accountFilters struct {
		Providers           []string            `json:"providers"`
		AccountStatuses     []string            `json:"accountStatuses"`
		RollupStatuses      []string            `json:"rollupStatuses"`
		EventStreamStatuses []string            `json:"eventStreamStatuses"`
		CloudAccountIDs     []string            `json:"cloudAccountIds"`
		Environments        []string            `json:"environments"`
		Tags                map[string]tagMatch `json:"tags" maxItems:"50"`
	}

	// tagMatch accepts one value of a tag or a list.
	tagMatch = httpapi.OneOrMany[string]

	accountQuery struct {
		Filters        accountFilters `json:"filters" null:"absent"`
		GetCredentials bool           `json:"getCredentials"`
		Pagination     *pagination    `json:"paginationInfo"`
		Warnings       httpapi.Warnings
	}
	relationshipRef struct {
		CloudAccountID string `json:"cloudAccountId"`
		CredentialID   string `json:"credentialId"`
	}
	accountPage struct {
		TotalCount        int                `json:"totalCount"`
		CloudAccounts     []account          `json:"cloudAccounts"`
		Credentials       *[]credential      `json:"credentials,omitempty"`
		Relationships     *[]relationshipRef `json:"relationships,omitempty"`
		ContinuationToken string             `json:"continuationToken,omitempty"`
		Warnings          []string           `json:"warnings,omitempty"`
	}
)

func (f accountFilters) filter() (posture.AccountFilter, error) {
	var bad []fault.Detail
	out := posture.AccountFilter{
		Providers:    checkKnown("filters.providers", f.Providers, posture.Providers, &bad),
		Statuses:     checkKnown("filters.accountStatuses", f.AccountStatuses, posture.AccountStatuses, &bad),
		Rollups:      checkKnown("filters.rollupStatuses", f.RollupStatuses, posture.RollupStatuses, &bad),
		Streams:      checkKnown("filters.eventStreamStatuses", f.EventStreamStatuses, posture.StreamStatuses, &bad),
		IDs:          f.CloudAccountIDs,
		Environments: f.Environments,
	}
	if len(f.Tags) > 0 {
		out.Tags = map[string][]string{}
		for name, values := range f.Tags {
			out.Tags[name] = values
		}
	}
	if len(bad) > 0 {
		return out, fault.Fields(bad...)
	}
	return out, nil
}

func (a *API) queryAccounts(ctx context.Context, in accountQuery) (accountPage, error) {
	list := listing{"cloud-accounts", &in.Filters}
	want, err := a.page(ctx, list, in.Pagination, everything)
	if err != nil {
		return accountPage{}, err
	}
	filter, err := in.Filters.filter()
	if err != nil {
		return accountPage{}, err
	}
	found, total, err := a.Store.Accounts(ctx, a.Org(ctx), filter, withOneMore(want))
	if err != nil {
		return accountPage{}, err
	}
	found, token, err := endPage(ctx, a, list, want, found, func(acc posture.Account) string { return string(acc.ID) })
	if err != nil {
		return accountPage{}, err
	}
	out := accountPage{TotalCount: total, CloudAccounts: httpapi.Each(found, accountOf), ContinuationToken: token, Warnings: in.Warnings}
	if err := a.addSchedules(ctx, out.CloudAccounts, ""); err != nil {
		return accountPage{}, err
	}
	if in.GetCredentials {
		err = a.addCredentials(ctx, &out, found, filter.Providers)
	}
	return out, err
}

// addCredentials adds the credentials of the given providers, and the links of the
// found accounts.
func (a *API) addCredentials(ctx context.Context, out *accountPage, found []posture.Account, ps []posture.Provider) error {
	creds, _, err := a.Store.Credentials(ctx, a.Org(ctx), ps, posture.Page{})
	if err != nil {
		return err
	}
	wire := credentialsOf(ctx, creds)
	links, err := a.Store.Links(ctx, a.Org(ctx), nil) // of all accounts
	if err != nil {
		return err
	}
	refs := []relationshipRef{}
	listed := map[posture.AccountID]bool{}
	for _, acc := range found {
		listed[acc.ID] = true
	}
	for _, l := range links {
		if listed[l.Account] {
			refs = append(refs, relationshipRef{string(l.Account), string(l.Credential)})
		}
	}
	out.Credentials = &wire
	out.Relationships = &refs
	return nil
}

// checkKnown parses filter values, ignoring case. An invalid value is an error, so that a
// misspelt filter is not mistaken for an empty result.
func checkKnown[T ~string](path string, values []string, set []T, bad *[]fault.Detail) []T {
	out := make([]T, 0, len(values))
	for i, v := range values {
		ok := false
		for _, s := range set {
			if strings.EqualFold(v, string(s)) {
				out, ok = append(out, s), true
			}
		}
		if !ok {
			*bad = append(*bad, fault.Detail{Path: index(path, i), Message: "must be one of " + join(set)})
		}
	}
	return out
}
