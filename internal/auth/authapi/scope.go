package authapi

import "strings"

// scopes says which part of the API the paths belong to. The first that matches
// counts.
var scopes = []struct{ prefix, scope string }{
	{"/v1/cloud-accounts", "accounts"},
	{"/v1/cloud-credentials", "accounts"},
	{"/v1/providers", "accounts"},
	{"/status", "accounts"},
	{"/v1/entities", "entities"},
	{"/v2/findings", "findings"},
	{"/v1/mute-rules", "findings"},
	{"/v1/rules", "rules"},
	{"/v1/compliance-frameworks", "rules"},
	{"/v1/views", "console"},
	{"/console", "console"},
	{"/v1/users", "administration"},
	{"/v1/api-tokens", "administration"},
	{"/v1/audit", "administration"},
	{"/v1/notification-channels", "administration"},
	{"/v1/notification-rules", "administration"},
	{"/v1/notification-deliveries", "administration"},
	{"/metrics", "administration"},
}

// ScopeOf returns the part of the API that a route belongs to. Tokens that are
// limited to some parts may not call one that belongs to none ("").
func ScopeOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	for _, s := range scopes {
		if rest, ok := strings.CutPrefix(path, s.prefix); ok && (rest == "" || rest[0] == '/') {
			return s.scope
		}
	}
	return ""
}
