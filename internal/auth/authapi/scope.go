package authapi

import "strings"

// scopes maps path prefixes to parts of the API. The first match wins.
var scopes = []struct{ prefix, scope string }{
	{"/v1/cloud-accounts", "accounts"},
	{"/v1/collection-plan", "accounts"},
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
	{"/v1/device-logins", "console"},
	{"/v1/users", "administration"},
	{"/v1/api-tokens", "administration"},
	{"/v1/audit", "administration"},
	{"/v1/notification-channels", "administration"},
	{"/v1/notification-rules", "administration"},
	{"/v1/notification-deliveries", "administration"},
	{"/metrics", "administration"},
}

// ScopeOf returns the part of the API that a route belongs to, or "". Tokens
// that are limited to scopes may not call routes without one.
func ScopeOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	for _, s := range scopes {
		if rest, ok := strings.CutPrefix(path, s.prefix); ok && (rest == "" || rest[0] == '/') {
			return s.scope
		}
	}
	return ""
}
