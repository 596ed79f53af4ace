package api

import (
	"context"

	"vigil/internal/cursor"
	"vigil/internal/fault"
	"vigil/internal/posture"
)

// defaultPage is the size of a page whose size is not said.
const defaultPage = 100

// pagination is how a caller asks for one page.
type pagination struct {
	Token *string `json:"continuationToken"`
	Size  *int    `json:"pageSize"`
}

// listing is a query that is answered in pages. A token made for one does not
// continue another.
func (a *API) listing(ctx context.Context, name string, filter ...any) (cursor.Query, error) {
	hash, err := cursor.Hash(filter...)
	return cursor.Query{Org: string(a.Org(ctx)), Name: name, Filter: hash}, err
}

// page reads which page a caller asks for. Without pagination it is size
// records, 0 for all.
func (a *API) page(ctx context.Context, q cursor.Query, p *pagination, size int) (posture.Page, error) {
	want := posture.Page{Size: size}
	if p == nil {
		return want, nil
	}
	want.Size = defaultPage
	if p.Size != nil {
		want.Size = *p.Size
	}
	if want.Size < 1 || want.Size > posture.MaxPage {
		return want, fault.Field("paginationInfo.pageSize", "must be from 1 to %d", posture.MaxPage)
	}
	if p.Token == nil || *p.Token == "" {
		return want, nil
	}
	place, err := a.Cursors.Open(ctx, q, *p.Token)
	if fault.Is(err, fault.Invalid) {
		return want, fault.Field("paginationInfo.continuationToken", "is not a token of this query")
	}
	want.After = string(place)
	return want, err
}

// next returns the token that continues a page of n records after last. It is
// empty when the page was not full.
func (a *API) next(ctx context.Context, q cursor.Query, p posture.Page, n int, last string) (string, error) {
	if p.Size == 0 || n < p.Size {
		return "", nil
	}
	return a.Cursors.Seal(ctx, q, []byte(last))
}
