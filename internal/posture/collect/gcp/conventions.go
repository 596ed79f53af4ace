package gcp

import (
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// conventions are those of Google Cloud. They implement [collect.Conventions].
type conventions struct{}

// Permission implements [collect.Conventions]. The catalog has already set r.Permission, except for the
// calls of functions.
func (conventions) Permission(r *resource.Request) string {
	if r.Permission == "" && r.Call != "" {
		return resource.GooglePermission(r.Call)
	}
	return r.Permission
}

// Service implements [collect.Conventions].
func (conventions) Service(r *resource.Request) string { return limitOf(apiOf(r)) }

// EventSource implements [collect.Conventions].
func (conventions) EventSource(short string) string { return short + ".googleapis.com" }

// apiOf returns the API of a call.
func apiOf(r *resource.Request) string {
	api, _, _ := strings.Cut(strings.TrimPrefix(r.Call, postCall), "/")
	return api
}

// declarations returns the declared facts about the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	return collect.Declarations(c, collect.InOrderOfCalls(c, posture.GCP), conventions{})
}
