package desktop

// A View is how one connection server sees one component. A server has views of
// its own, from its probes, and learns those of its peers from their health.
type View struct {
	Kind               Kind              `json:"kind"`
	ID                 ID                `json:"id"`
	Status             string            `json:"status"`
	Trust              TrustRelationship `json:"trust,omitempty"` // for domains
	ThumbprintAccepted bool              `json:"thumbprint_accepted,omitempty"`
	Certificate        *Certificate      `json:"certificate,omitempty"`
	Reasons            []string          `json:"reasons,omitempty"`
}

// A ServerView is a view with the server that has it. A server that has told
// nothing has a view without status.
type ServerView struct {
	ServerID   ID
	ServerName string
	Self       bool
	View       View
}

// viewReasons gathers the reasons of all views, each with the server it is
// seen from unless that is our own.
func viewReasons(views []ServerView) []string {
	var out []string
	for _, v := range views {
		for _, r := range v.View.Reasons {
			if !v.Self {
				r = v.ServerName + ": " + r
			}
			out = append(out, r)
		}
	}
	return out
}
