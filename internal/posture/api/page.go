package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// pagination is how a caller asks for one page.
type pagination struct {
	Token *string `json:"continuationToken"`
	Size  *int    `json:"pageSize"`
}

// purpose names a query by its kind and its filter: a token made for one filter
// does not continue another.
func purpose(kind string, filter any) string {
	text, err := json.Marshal(filter)
	if err != nil {
		return kind // a filter is made of strings; not reached
	}
	sum := sha256.Sum256(text)
	return kind + "/" + hex.EncodeToString(sum[:8])
}

// page reads what a caller asks for. Without pagination it is size records, 0
// for all.
func (a *API) page(ctx context.Context, p *pagination, size int, purpose string) (posture.Page, error) {
	want := posture.Page{Size: size}
	if p == nil {
		return want, nil
	}
	if p.Size != nil {
		if *p.Size < 1 || *p.Size > posture.MaxPage {
			return want, fault.Field("paginationInfo.pageSize", "must be from 1 to %d", posture.MaxPage)
		}
		want.Size = *p.Size
	} else if size == 0 {
		want.Size = defaultPage
	}
	if p.Token != nil && *p.Token != "" {
		after, err := a.Cursors.Open(string(a.Org(ctx)), purpose, *p.Token)
		if err != nil {
			return want, fault.Field("paginationInfo.continuationToken", "is not a token of this query")
		}
		want.After = string(after)
	}
	return want, nil
}

const defaultPage = 100

// next returns the token of the page after one that ends with last, or "" when
// that page is not full.
func (a *API) next(ctx context.Context, p posture.Page, n int, last, purpose string) (string, error) {
	if p.Size == 0 || n < p.Size {
		return "", nil
	}
	return a.Cursors.Seal(string(a.Org(ctx)), purpose, []byte(last))
}
