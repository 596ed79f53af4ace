package desktop

import "time"

// A Composer creates linked clones for virtual centers.
type Composer struct {
	ID             ID
	Name           string
	URL            string // https://host:port
	Port           int
	Trust          Trust
	VirtualCenters []string // names of the virtual centers it serves
}

// ComposerReading is the result of reading a composer. Fields that a composer
// does not report are empty.
type ComposerReading struct {
	Version       string
	Build         string
	APIVersion    string
	MinVCVersion  string
	MinESXVersion string
}

// Kind implements [Reading].
func (ComposerReading) Kind() Kind { return KindComposer }

// ComposerMonitor is the monitor record of a composer.
type ComposerMonitor struct {
	Name    string           `json:"name"`
	Port    int32            `json:"port"`
	Details ComposerDetails  `json:"details"`
	Servers []ComposerServer `json:"connection_servers"`
	ID      ID               `json:"id"`
	Status  Health           `json:"status"`
	Freshness
	views []ServerView // parallel to Servers
	own   PartStatus
}

// ComposerDetails describes the software of a composer. The API version is also
// sent under its historic misspelling, which clients read.
type ComposerDetails struct {
	Version        string   `json:"version"`
	Build          string   `json:"build"`
	APIVersion     string   `json:"api_version"`
	APIVerion      string   `json:"api_verion"`
	MinVCVersion   string   `json:"min_vc_version"`
	MinESXVersion  string   `json:"min_esx_version"`
	VirtualCenters []string `json:"referenced_vcs"`
}

// ComposerServer is the status of a composer as one connection server sees it.
type ComposerServer struct {
	ID                 ID             `json:"id"`
	Name               string         `json:"name"`
	Status             ComposerStatus `json:"status"`
	ThumbprintAccepted bool           `json:"thumbprint_accepted"`
	Certificate        *Certificate   `json:"certificate,omitempty"`
}

// ComposerView derives how this connection server itself sees a composer. The API has no
// status for a composer that was not checked yet, so such a view has none.
func (p Policy) ComposerView(c Composer, s Snapshot[ComposerReading]) View {
	v := View{Kind: KindComposer, ID: c.ID, Certificate: s.Certificate}
	v.ThumbprintAccepted = s.Certificate != nil && s.Certificate.Accepted
	switch f := s.Failing(p.FailuresBeforeDown); {
	case !s.Tried():
		v.Reasons = []string{"not checked yet"}
	case f == nil:
		v.Status = string(ComposerOK)
	case f.Cause == Malformed:
		v.Status, v.Reasons = string(ComposerMalformedURL), []string{f.Reason}
	case f.Cause == Untrusted:
		v.Status, v.Reasons = string(ComposerCertError), []string{f.Reason}
	default:
		v.Status, v.Reasons = string(ComposerError), []string{f.Reason}
	}
	return v
}

// ComposerRecord derives the monitor record of a composer from the views of the
// servers that have checked it.
func (p Policy) ComposerRecord(c Composer, s Snapshot[ComposerReading], views []ServerView, now time.Time) ComposerMonitor {
	m := ComposerMonitor{
		Name: c.Name, Port: Count(int64(c.Port)), ID: c.ID,
		Details: ComposerDetails{
			Version: s.Good.Version, Build: s.Good.Build,
			APIVersion: s.Good.APIVersion, APIVerion: s.Good.APIVersion,
			MinVCVersion: s.Good.MinVCVersion, MinESXVersion: s.Good.MinESXVersion,
			VirtualCenters: append([]string{}, c.VirtualCenters...),
		},
		Servers: []ComposerServer{},
		Status:  healthOfViews(KindComposer, views),
	}
	var unlisted []string
	for _, v := range views {
		if v.View.Status == "" {
			if v.Unchecked {
				unlisted = append(unlisted, v.ServerName)
			}
			continue
		}
		m.Servers = append(m.Servers, ComposerServer{
			v.ServerID, v.ServerName, ComposerStatus(v.View.Status), v.View.ThumbprintAccepted, v.View.Certificate,
		})
		m.views = append(m.views, v)
	}
	expiring := p.expiringCertificates(now, m.Certificates()...)
	if len(expiring) > 0 && m.Status == HealthOK {
		m.Status = HealthWarning
	}
	m.Freshness = fresh(MillisOf(s.At), m.Status, append(viewReasons(views), expiring...)...)
	m.unlisted, m.own = unlisted, statusOfViews(m.Status, views)
	return m
}

// Ref implements [Record].
func (m ComposerMonitor) Ref() Ref { return Ref{KindComposer, m.ID, m.Name} }

// Statuses implements [Record].
func (m ComposerMonitor) Statuses() []PartStatus {
	out := []PartStatus{m.own}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	return out
}

// Certificates implements [Record].
func (m ComposerMonitor) Certificates() []PartCertificate {
	for _, s := range m.Servers {
		if s.Certificate != nil {
			return certificates("", s.Certificate)
		}
	}
	return nil
}
