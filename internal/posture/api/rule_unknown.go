package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/judge"
)

type (
	unknownIn struct {
		ID      string `path:"rule_id"`
		Filters struct {
			CloudAccountIDs []string `json:"cloudAccountIds"`
		} `json:"filters" null:"absent"`
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings
	}
	unknownEntity struct {
		Entity  entity   `json:"entity"`
		Reasons []string `json:"reasons"`
	}
	unknownPage struct {
		TotalCount        int             `json:"totalCount"`
		Results           []unknownEntity `json:"results"`
		ContinuationToken string          `json:"continuationToken,omitempty"`
		Warnings          []string        `json:"warnings,omitempty"`
	}
	// unknownListing is the query that a continuation token contains.
	unknownListing struct {
		Rule     string
		Accounts []string
	}
)

// queryUnknown lists the resources for which the result of a rule is unknown, sorted by
// account and entity id, with the reasons.
func (a *API) queryUnknown(ctx context.Context, in unknownIn) (unknownPage, error) {
	org, out := a.Org(ctx), unknownPage{Results: []unknownEntity{}, Warnings: in.Warnings}
	listingQuery := unknownListing{in.ID, in.Filters.CloudAccountIDs}
	list := listing{"unknown", &listingQuery}
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return out, err
	}
	rule, err := a.Book.Rule(ctx, org, posture.RuleID(listingQuery.Rule))
	if err != nil {
		return out, err
	}
	verdicts, err := a.Findings.Verdicts(ctx, org, []posture.RuleID{rule.ID}, idsOf[posture.AccountID](listingQuery.Accounts))
	if err != nil {
		return out, err
	}
	leave, err := a.Walker.Enter(ctx, org, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return out, err
	}
	defer leave()
	from, after, _ := strings.Cut(want.After, " ") // account and entity
	// A resource that was deleted since the graph was read counts as listed, so that the page does not end the list.
	listed, last, more := 0, "", false
	for _, v := range verdicts {
		out.TotalCount += v.Unknown
		if v.Unknown == 0 || string(v.Account) < from || more {
			continue
		}
		trial, err := a.Judge.Try(ctx, org, v.Account, rule.Query)
		if err != nil {
			return out, err
		}
		ids := trial.Unknown
		if string(v.Account) == from {
			ids = slices.DeleteFunc(ids, func(id posture.EntityID) bool { return string(id) <= after })
		}
		missing := want.Size - listed
		more = len(ids) > missing
		if ids = ids[:min(len(ids), missing)]; len(ids) == 0 {
			continue
		}
		if err := a.appendUnknown(ctx, &out, v.Account, ids, trial.Reads); err != nil {
			return out, err
		}
		listed += len(ids)
		last = string(v.Account) + " " + string(ids[len(ids)-1])
	}
	if more {
		out.ContinuationToken, err = a.token(ctx, list, last)
	}
	return out, err
}

// appendUnknown adds entities of an account to a page, with the reasons.
func (a *API) appendUnknown(ctx context.Context, out *unknownPage, account posture.AccountID, ids []posture.EntityID, reads judge.ReadSet) error {
	found, err := a.Entities.EntitiesOf(ctx, a.Org(ctx), account, ids)
	if err != nil {
		return err
	}
	missing, err := a.unreadOf(ctx, account, reads.Types)
	for _, id := range ids {
		if e, ok := found[id]; ok {
			out.Results = append(out.Results, unknownEntity{entityOf(e), reasonsOf(e, reads, missing)})
		}
	}
	return err
}

// reasonsOf returns why the result of a rule is unknown for an entity.
func reasonsOf(e posture.Entity, reads judge.ReadSet, missing []unread) []string {
	reasons := []string{}
	for _, p := range e.Properties {
		if p.Type != posture.UnknownProperty || !isRead(reads, p.Name) {
			continue
		}
		name := p.Name
		if name == posture.TagsUnread {
			name = "tags"
		}
		reasons = append(reasons, fmt.Sprintf("%s could not be read: %s", name, p.Error))
	}
	for _, u := range missing {
		if u.Region == e.Region || u.Region == posture.Global || e.Region == posture.Global {
			reasons = append(reasons, fmt.Sprintf("%s could not be listed in %s: %s", u.EntityType, u.Region, u.Why))
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, "the resource, or one that it is related to, could not be read completely")
	}
	return reasons
}

// isRead reports whether a query reads the property or edge of a name, or tags if it is
// [posture.TagsUnread]. It ignores case, as searches do.
func isRead(reads judge.ReadSet, name string) bool {
	matches := func(read string) bool {
		attribute, _ := posture.ParseAttribute(read)
		return posture.Fold(read) == posture.Fold(name) || name == posture.TagsUnread && attribute.Kind == posture.TagAttribute
	}
	return slices.ContainsFunc(reads.Properties, matches) || slices.ContainsFunc(reads.Edges, matches)
}
