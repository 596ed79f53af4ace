package desktop

// Health grades a status. Every kind has its own statuses; their health is
// comparable, so that lists, overviews and alerts can sort and colour
// components without knowing each kind.
type Health string

// The grades of health.
const (
	HealthOK       Health = "OK"
	HealthWarning  Health = "WARNING"
	HealthError    Health = "ERROR"
	HealthUnknown  Health = "UNKNOWN"  // not checked yet, or the last reading is too old
	HealthDisabled Health = "DISABLED" // disabled by an administrator
)

// Healths lists the grades, worst first.
func Healths() []Health {
	return []Health{HealthError, HealthWarning, HealthUnknown, HealthOK, HealthDisabled}
}

// statusHealth grades the statuses that mean the same for every kind. All
// others are HealthUnknown.
var statusHealth = map[string]Health{
	"OK": HealthOK, "FULLY_ACCESSIBLE": HealthOK, "CONNECTED": HealthOK, "ONLINE": HealthOK, "ACCESSIBLE": HealthOK, "UP": HealthOK,

	"WARNING": HealthWarning, "WARN": HealthWarning, "RECONNECTING": HealthWarning, "CONNECTING": HealthWarning,

	"ERROR": HealthError, "PROBLEM": HealthError, "DOWN": HealthError, "OFFLINE": HealthError, "DISCONNECTED": HealthError,
	"UNCONTACTABLE": HealthError, "CANNOT_BIND": HealthError, "INVALID_CREDENTIALS": HealthError, "CANNOT_LOGIN": HealthError,
	"CERT_ERROR": HealthError, "MALFORMED_URL": HealthError, "NOT_RESPONDING": HealthError, "NOT_ACCESSIBLE": HealthError,

	"DISABLED": HealthDisabled,
}

// statePart is the part of an RDS server's record that contains its agent's
// state.
const statePart = "state"

// HealthOf grades a status of a component or of a part of it.
func HealthOf(k Kind, part, status string) Health {
	if k == KindRDSServer && part == statePart {
		status = string(statusOfState[RDSState(status)])
	}
	if h, ok := statusHealth[status]; ok {
		return h
	}
	return HealthUnknown
}

// worse returns the worse of two grades.
func worse(a, b Health) Health {
	for _, h := range Healths() {
		if a == h || b == h {
			return h
		}
	}
	return HealthUnknown
}

// healthOfViews grades a component by the views of the connection servers: the
// worst view counts. Views with unknown health are ignored, unless all are
// unknown. The record of the component has each view as a part with the name of
// its server.
func healthOfViews(k Kind, views []ServerView) Health {
	out := HealthUnknown
	for _, v := range views {
		h := HealthOf(k, v.ServerName, v.View.Status)
		switch {
		case h == HealthUnknown: // ignore it
		case out == HealthUnknown:
			out = h
		default:
			out = worse(out, h)
		}
	}
	return out
}
