package gcp

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// A failure is an error response.
type failure struct {
	status  int
	reason  string // in the older error format
	state   string // in the newer error format
	message string
	info    world.Object // details, in the newer format
}

var unauthenticated = &failure{
	status: http.StatusUnauthorized, reason: "authError", state: "UNAUTHENTICATED",
	message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
}

func notFound(what string) *failure {
	return &failure{status: http.StatusNotFound, reason: "notFound", state: "NOT_FOUND", message: "The resource '" + what + "' was not found"}
}

// olderFormat are the services that use only the older error format.
var olderFormat = []string{"compute", "storage", "sqladmin", "bigquery", "dns"}

// refuse sends a failure in the service's format.
func (c *call) refuse(w http.ResponseWriter, f *failure) {
	e := world.Obj("code", f.status, "message", f.message)
	if slices.Contains(olderFormat, c.service) {
		e = append(e, world.Obj("errors", world.Items(world.Obj("message", f.message, "domain", "global", "reason", f.reason)))...)
	} else {
		e = append(e, world.Obj("status", f.state)...)
	}
	if f.info != nil {
		e = append(e, world.Obj("details", world.Items(append(world.Obj("@type", "type.googleapis.com/google.rpc.ErrorInfo"), f.info...)))...)
	}
	writeJSON(w, f.status, world.Obj("error", e))
}

// denied returns the service's error for a missing permission.
func (c *call) denied() *failure {
	permission, project := c.route.permission, "projects/"+c.project.ID
	f := &failure{status: http.StatusForbidden, reason: "forbidden", state: "PERMISSION_DENIED"}
	switch c.service {
	case "compute":
		f.message = fmt.Sprintf("Required '%s' permission for '%s'", permission, project)
	case "storage":
		f.message = fmt.Sprintf("%s does not have %s access to the Google Cloud project. Permission '%s' denied on resource (or it may not exist).", c.email(), permission, permission)
	case "bigquery":
		f.reason = "accessDenied"
		f.message = fmt.Sprintf("Access Denied: Project %s: Permission %s denied on project %s (or it may not exist).", c.project.ID, permission, c.project.ID)
	case "sqladmin":
		f.reason, f.message = "notAuthorized", "The client is not authorized to make this request."
	case "dns":
		f.message = "Forbidden"
	case "cloudresourcemanager":
		f.message = "The caller does not have permission"
	default:
		f.message = fmt.Sprintf("Permission '%s' denied on resource '//%s.googleapis.com/%s' (or it may not exist).", permission, c.service, project)
		f.info = world.Obj("reason", "IAM_PERMISSION_DENIED", "domain", "iam.googleapis.com", "metadata", world.Obj("resource", project, "permission", permission))
	}
	return f
}

func (c *call) email() string {
	if c.account == nil {
		return "anonymous"
	}
	return c.account.email
}

// fault returns the service's error for an injected fault, and sets the header Retry-After
// if the fault has one.
func (c *call) fault(w http.ResponseWriter, f gateway.Fault) *failure {
	switch f.Kind {
	case gateway.Throttle:
		retryAfter(w, f)
		if c.service == "compute" {
			return &failure{status: http.StatusForbidden, reason: "rateLimitExceeded", message: "Rate Limit Exceeded"}
		}
		return &failure{
			status: http.StatusTooManyRequests, reason: "rateLimitExceeded", state: "RESOURCE_EXHAUSTED", message: "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'.",
			info: world.Obj("reason", "RATE_LIMIT_EXCEEDED", "domain", "googleapis.com", "metadata", world.Obj("service", c.service+".googleapis.com")),
		}
	case gateway.Expire:
		return unauthenticated
	case gateway.Off:
		return c.off()
	case gateway.Fail:
		return &failure{status: http.StatusServiceUnavailable, reason: "backendError", state: "UNAVAILABLE", message: "The service is currently unavailable."}
	}
	return c.denied()
}

// off returns the error that the API is not enabled in the caller's own
// project, which is the one that Google checks.
func (c *call) off() *failure {
	home := c.account.project
	return &failure{
		status: http.StatusForbidden, reason: "accessNotConfigured", state: "PERMISSION_DENIED",
		message: fmt.Sprintf("%s API has not been used in project %s before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/%s.googleapis.com/overview?project=%s then retry.",
			c.service, home.Number, c.service, home.Number),
		info: world.Obj("reason", "SERVICE_DISABLED", "domain", "googleapis.com", "metadata", world.Obj("service", c.service+".googleapis.com", "consumer", "projects/"+home.Number)),
	}
}

func retryAfter(w http.ResponseWriter, f gateway.Fault) {
	if f.RetryAfter > 0 {
		seconds := (time.Duration(f.RetryAfter) + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
}
