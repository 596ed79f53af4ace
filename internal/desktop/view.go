package desktop

import "slices"

// A View is how one connection server sees one component. A server has views of
// its own, from its probes, and learns those of its peers from their health.
type View struct {
	Kind               Kind              `json:"kind"`
	ID                 ID                `json:"id"`
	Status             string            `json:"status"`
	Trust              TrustRelationship `json:"trust,omitempty"` // for domains
	ThumbprintAccepted bool              `json:"thumbprint_accepted,omitempty"`
	Certificate        *Certificate      `json:"certificate,omitempty"`
	Reasons            []string          `json:"reasons"`
}

// A ServerView is a view with the server that has it. A server that has told
// nothing has a view without status.
type ServerView struct {
	ServerID   ID
	ServerName string
	Self       bool
	Silent     bool // the server does not answer, so what it sees is unknown
	Unseen     bool // nobody has asked the server yet
	View       View
}

// part returns the status that a record has for the view of one server. What a
// server that is gone would see is the fault of the server, not of the
// component.
func (v ServerView) part(status string) PartStatus {
	s := PartStatus{Part: v.ServerName, Status: status, Unseen: v.Unseen}
	if v.Silent {
		s.Blame = Ref{KindConnectionServer, v.ServerID, v.ServerName}
	}
	return s
}

// viewReasons gathers the reasons of all views, each with the server it is
// seen from unless that is our own.
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

// unseenByAll reports whether no server has looked at a component yet.
func unseenByAll(views []ServerView) bool {
	return !slices.ContainsFunc(views, func(v ServerView) bool { return !v.Unseen && !v.Silent })
}
