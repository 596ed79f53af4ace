package app

import (
	"fmt"

	"vigil/internal/desktop"
	"vigil/internal/desktop/session"
)

// loginEvent converts a login or logout to an event of the event database.
func loginEvent(e session.Event, node string) desktop.Event {
	out := desktop.Event{
		At: e.At, Module: "Rest", Node: node, UserSID: e.SID, Severity: desktop.SeverityAuditSuccess,
		Data: map[string]string{"Domain": e.Domain, "UserName": e.Username, "ClientAddress": e.Source},
	}
	user := e.Domain + `\` + e.Username
	switch {
	case e.Action == "logout":
		out.Type, out.Text = "REST_AUTH_LOGOUT", fmt.Sprintf("User %s has logged out", user)
	case e.Refused != "":
		out.Type, out.Severity = "REST_AUTH_LOGIN_FAILED", desktop.SeverityAuditFail
		out.Text = fmt.Sprintf("Login of user %s was refused: %s", user, e.Refused)
		out.Data["Reason"] = e.Refused
	default:
		out.Type, out.Text = "REST_AUTH_LOGIN_SUCCEEDED", fmt.Sprintf("User %s has logged in", user)
	}
	return out
}

// severityOf returns the severity of a change to a status with the given health.
func severityOf(h desktop.Health) desktop.Severity {
	switch h {
	case desktop.HealthOK, desktop.HealthDisabled:
		return desktop.SeverityInfo
	case desktop.HealthError:
		return desktop.SeverityError
	}
	return desktop.SeverityWarning
}

// statusEvents converts changes of statuses to events of the event database.
func statusEvents(changes []desktop.Change, node string) []desktop.Event {
	out := make([]desktop.Event, 0, len(changes))
	for _, c := range changes {
		severity := severityOf(desktop.HealthOf(c.Ref.Kind, c.Part, c.To))
		what := fmt.Sprintf("%s %s", c.Ref.Kind, c.Ref.Name)
		if c.Part != "" {
			what += " (" + c.Part + ")"
		}
		out = append(out, desktop.Event{
			At: c.At, Type: "MONITOR_STATUS_CHANGED", Severity: severity, Module: "Broker", Node: node,
			Text: fmt.Sprintf("The status of %s changed from %s to %s", what, c.From, c.To),
			Data: map[string]string{"Kind": string(c.Ref.Kind), "Component": string(c.Ref.ID), "From": c.From, "To": c.To},
		})
	}
	return out
}
