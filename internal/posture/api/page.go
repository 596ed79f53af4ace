package api

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"vigil/internal/cursor"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

// defaultPage is the default page size.
const defaultPage = 100

// everything is the page size of a list that is returned as a whole if the request has no pagination.
const everything = 0

// pagination holds the members of a request that select a page.
type pagination struct {
	Token *string               `json:"continuationToken"`
	Size  httpapi.Optional[int] `json:"pageSize"`

	inURL bool // the members are query parameters
}

// path returns the path of a member in the request.
func (p *pagination) path(member string) string {
	if p.inURL {
		return member
	}
	return "paginationInfo." + member
}

// A listing is a paginated query. Its continuation tokens contain the query, because
// existing clients change filters between pages and still expect the list that they
// began with.
type listing struct {
	name  string // of the operation
	query any    // pointer to everything that determines the list and its order
}

// continuation is the content of a token.
type continuation struct {
	Query json.RawMessage `json:"q"`
	After string          `json:"a"`
}

// cursorOf identifies the tokens of a listing. Filter is constant, because the query is in the
// token itself.
func (a *API) cursorOf(ctx context.Context, l listing) cursor.Query {
	return cursor.Query{Org: string(a.Org(ctx)), Name: l.name, Filter: "query"}
}

// page returns the requested page. If p is nil, the page has the given size, which may be everything.
// If the caller sends a token, the query of the listing is replaced by the one in the token.
func (a *API) page(ctx context.Context, l listing, p *pagination, size int) (posture.Page, error) {
	want := posture.Page{Size: size}
	if p == nil {
		return want, nil
	}
	want.Size = defaultPage
	if p.Size.Null {
		return want, fault.Field(p.path("pageSize"), "must be an integer, not null")
	}
	want.Size = p.Size.Or(want.Size)
	if want.Size < 1 || want.Size > posture.MaxPage {
		return want, fault.Field(p.path("pageSize"), "must be from 1 to %d", posture.MaxPage)
	}
	if p.Token == nil || *p.Token == "" {
		return want, nil
	}
	packed, err := a.Cursors.Open(ctx, a.cursorOf(ctx, l), *p.Token)
	if fault.Is(err, fault.Invalid) {
		return want, fault.Field(p.path("continuationToken"), "is not a token of this operation")
	}
	if err != nil {
		return want, err
	}
	var c continuation
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil {
		reflect.ValueOf(l.query).Elem().SetZero() // discard the query of the request
		err = json.Unmarshal(c.Query, l.query)
	}
	want.After = c.After
	if err != nil {
		err = fmt.Errorf("read continuation token: %w", err)
	}
	return want, err
}

// token returns the token that continues a listing after a position.
func (a *API) token(ctx context.Context, l listing, after string) (string, error) {
	query, err := json.Marshal(l.query)
	if err != nil {
		return "", fmt.Errorf("write continuation token: %w", err)
	}
	text, err := json.Marshal(continuation{query, after})
	if err != nil {
		return "", fmt.Errorf("write continuation token: %w", err)
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("write continuation token: %w", err)
	}
	return a.Cursors.Seal(ctx, a.cursorOf(ctx, l), packed.Bytes())
}

// withOneMore returns a page with one record more, which shows whether there is a next page.
func withOneMore(p posture.Page) posture.Page {
	if p.Size > 0 {
		p.Size++
	}
	return p
}

// endPage cuts the records found for withOneMore(p) to p, and returns the token of the
// next page if there is one. The function key returns the position of a record in the list.
func endPage[T any](ctx context.Context, a *API, l listing, p posture.Page, found []T, key func(T) string) ([]T, string, error) {
	if p.Size == 0 || len(found) <= p.Size {
		return found, "", nil
	}
	token, err := a.token(ctx, l, key(found[p.Size-1]))
	return found[:p.Size], token, err
}
