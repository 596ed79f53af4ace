package desktop

import "slices"

// A View is the state of one component as one connection server sees it. A
// server derives its own views from its probes, and reads those of its peers
// from their health endpoint.
type View struct {
	Kind               Kind              `json:"kind"`
	ID                 ID                `json:"id"`
	Status             string            `json:"status"`
	Trust              TrustRelationship `json:"trust,omitempty"` // for domains
	ThumbprintAccepted bool              `json:"thumbprint_accepted,omitempty"`
	Certificate        *Certificate      `json:"certificate,omitempty"`
	Reasons            []string          `json:"reasons"`
}

// isChecked reports whether a view is based on a check of the component. Only the status shows that: until the first check
// after a start, it is empty or one of those below.
func (v View) isChecked() bool {
	switch v.Status {
	case "", string(HealthUnknown), string(VirtualCenterNotYetConnected):
		return false
	}
	return true
}

// A ServerView is a view and the server it belongs to. If the server has reported
// no view, View has no status.
type ServerView struct {
	ServerID   ID
	ServerName string
	Self       bool
	Silent     bool // the server does not answer, so that its view is unknown
	Unchecked  bool // the server was not checked yet, or has not checked the component yet
	View       View
}

// part returns the status that one server sees, as a part of the component's record.
// An unknown view is blamed on the server that does not answer, not on the component.
func (v ServerView) part(status string) PartStatus {
	s := PartStatus{Part: v.ServerName, Status: status, Unchecked: v.Unchecked}
	if v.Silent {
		s.BlamedOn = Ref{KindConnectionServer, v.ServerID, v.ServerName}
	}
	return s
}

// viewReasons returns the reasons of all views, prefixed with the server's name
// for views of other servers.
func viewReasons(views []ServerView) []string {
	var out []string
	for _, v := range views {
		if v.Silent {
			out = append(out, v.ServerName+" does not answer: what it sees is unknown")
		}
		for _, r := range v.View.Reasons {
			if !v.Self {
				r = v.ServerName + ": " + r
			}
			out = append(out, r)
		}
	}
	return out
}

// statusOfViews returns the status of a component that follows from the views of the servers. It is unchecked until at least one
// server, and every server that is not silent, has checked the component. An error counts at once: no other view can undo it.
func statusOfViews(status Health, views []ServerView) PartStatus {
	checked := slices.ContainsFunc(views, func(v ServerView) bool { return !v.Unchecked && !v.Silent })
	complete := !slices.ContainsFunc(views, func(v ServerView) bool { return v.Unchecked })
	s := PartStatus{Status: string(status)}
	switch {
	case !checked:
		s.Unchecked = true
	case status != HealthError:
		s.Unchecked = !complete
	}
	return s
}
