package azure

import (
	"context"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// Pages implements [collect.Transport]. The input is the query.
func (s *session) Pages(ctx context.Context, r *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	permission, _, _ := strings.Cut(r.Permission, " ") // of several permissions, the first is that of the call itself
	return s.pages(ctx, s.url(address, gjson.ParseBytes(input)), permission, r.Shared, page)
}

// url returns the URL of a call. Calls that begin with graphCall go to Microsoft Graph, all
// others to Resource Manager. The path is escaped, because names in ids can have any characters.
func (s *session) url(address string, query gjson.Result) string {
	base := s.base
	if path, ok := strings.CutPrefix(address, graphCall); ok {
		base, address = s.graph, path
	}
	var members []string
	query.ForEach(func(name, value gjson.Result) bool {
		members = append(members, name.Str+"="+url.QueryEscape(value.String()))
		return true
	})
	full := base + (&url.URL{Path: address}).EscapedPath()
	if len(members) > 0 {
		full += "?" + strings.Join(members, "&")
	}
	return full
}
