package azure

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// Names of services in limits.
const (
	armService   = "arm"
	graphService = "graph"
)

// graphCall is how calls of Microsoft Graph begin.
const graphCall = "graph:"

// grammar says what follows from a call of Azure. It implements
// [collect.Grammar].
type grammar struct{}

// Permission implements [collect.Grammar]. Loading has filled it in.
func (grammar) Permission(r *resource.Request) string { return r.Permission }

// Service implements [collect.Grammar].
func (grammar) Service(r *resource.Request) string {
	if strings.HasPrefix(r.Call, graphCall) {
		return graphService
	}
	return armService
}

// EventSource implements [collect.Grammar].
func (grammar) EventSource(source string) string { return source }

// declarations returns what is known of the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	var all []collect.Declaration
	for _, t := range inOrder(c) {
		all = append(all, collect.DeclarationOf(c, t, grammar{}))
	}
	return all
}

// inOrder returns the types of Azure. Those that need the same lists follow one
// another, so that they are still remembered.
func inOrder(c *resource.Catalog) []*resource.Type {
	all := c.Of(posture.Azure)
	slices.SortStableFunc(all, func(a, b *resource.Type) int { return strings.Compare(listedFirst(c, a), listedFirst(c, b)) })
	return all
}

// listedFirst returns the call that a type's list begins with.
func listedFirst(c *resource.Catalog, t *resource.Type) string {
	for r := range c.Requests(t) {
		return r.Call
	}
	return ""
}
