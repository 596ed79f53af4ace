package web

import (
	"context"

	"vigil/internal/httpapi"
)

// Config is the configuration that the console needs before a user has logged in.
type Config struct {
	Product     string       `json:"product"` // posture or desktop
	Version     string       `json:"version"`
	Demo        bool         `json:"demo"`              // what is shown is simulated
	Warning     string       `json:"warning,omitempty"` // shown on every page
	OtherServer *OtherServer `json:"otherServer,omitempty"`
	Login       []string     `json:"login"` // ways to log in: apiToken, password, oidc
}

// OtherServer is where the console's switch between the two servers leads.
type OtherServer struct {
	Product string `json:"product"`
	URL     string `json:"url"` // without a slash at the end
}

// Other returns the other server, or nil if url is empty because there is none.
func Other(product, url string) *OtherServer {
	if url == "" {
		return nil
	}
	return &OtherServer{product, url}
}

// ConfigRoute serves the configuration at /console/config.
func ConfigRoute(config func() Config) httpapi.Route {
	return httpapi.Route{
		Pattern: "GET /console/config", Need: httpapi.Public, Operation: "getConsoleConfig",
		Handler: httpapi.JSON(func(context.Context, httpapi.None) (Config, error) { return config(), nil }),
	}
}
