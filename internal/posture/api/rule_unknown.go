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
	query := unknownListing{in.ID, in.Filters.CloudAccountIDs}
	list := listing{"unknown", &query} // page replaces the query by that of a continuation token
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return out, err
	}
	rule, err := a.Book.Rule(ctx, org, posture.RuleID(query.Rule))
	if err != nil {
		return out, err
	}
	verdicts, err := a.Findings.Verdicts(ctx, org, []posture.RuleID{rule.ID}, idsOf[posture.AccountID](query.Accounts))
	if err != nil {
		return out, err
	}
	leave, err := a.Walker.Admit(ctx, org, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return out, err
	}
	defer leave()
	from, after, _ := strings.Cut(want.After, " ") // account and entity of the last result of the page before
	size := withOneMore(want).Size
	for _, v := range verdicts {
		out.TotalCount += v.Unknown
		if v.Unknown == 0 || string(v.Account) < from || len(out.Results) == size {
			continue
		}
		trial, err := a.Judge.Try(ctx, org, v.Account, rule.Query)
		if err != nil {
			return out, err
		}
		ids := trial.Unknown // sorted
		if string(v.Account) == from {
			ids = slices.DeleteFunc(ids, func(id posture.EntityID) bool { return string(id) <= after })
		}
		if err := a.appendUnknown(ctx, &out, size, v.Account, ids, trial.Reads); err != nil {
			return out, err
		}
	}
	key := func(e unknownEntity) string { return e.Entity.CloudAccountID + " " + e.Entity.EntityID }
	out.Results, out.ContinuationToken, err = endPage(ctx, a, list, want, out.Results, key)
	return out, err
}

// appendUnknown adds entities of an account to a page until it has the given size, with the
// reasons. It skips those that were deleted since the graph was read.
func (a *API) appendUnknown(ctx context.Context, out *unknownPage, size int, account posture.AccountID, ids []posture.EntityID, reads judge.ReadSet) error {
	missing, err := a.unreadOf(ctx, account, reads.Types)
	if err != nil {
		return err
	}
	labels := map[posture.EntityType][]string{}
	for _, d := range a.Declarations() {
		for _, e := range d.Edges {
			labels[d.Type] = append(labels[d.Type], e.Label)
		}
	}
	for part := range slices.Chunk(ids, max(size, defaultPage)) {
		found, err := a.Entities.EntitiesOf(ctx, a.Org(ctx), account, part)
		if err != nil {
			return err
		}
		for _, id := range part {
			if len(out.Results) == size {
				return nil
			}
			if e, ok := found[id]; ok {
				out.Results = append(out.Results, unknownEntity{entityOf(e), reasonsOf(e, reads, labels[e.Type], missing)})
			}
		}
	}
	return nil
}

// reasonsOf returns why the result of a rule is unknown for an entity. labels are the edge labels
// of the entity's type.
func reasonsOf(e posture.Entity, reads judge.ReadSet, labels []string, missing []unread) []string {
	reasons := []string{}
	for _, p := range e.Properties {
		if p.Type != posture.UnknownProperty || !isRead(reads, labels, p.Name) {
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

// isRead reports whether a query reads what the unknown property of the given name stands for. If
// edges could not be read, the name is their label; labels are those of the entity's type. If tags
// could not be read, the name is [posture.TagsUnread]. Case is ignored, as in searches.
func isRead(reads judge.ReadSet, labels []string, name string) bool {
	isName := func(read string) bool { return posture.Fold(read) == posture.Fold(name) }
	return reads.AllProperties || reads.AllEdges && slices.Contains(labels, name) || reads.Tags && name == posture.TagsUnread ||
		slices.ContainsFunc(reads.Properties, isName) || slices.ContainsFunc(reads.Edges, isName)
}
