package export

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
)

// ocsfVersion is the version of the Open Cybersecurity Schema Framework:
// schema.ocsf.io/1.3.0/classes/compliance_finding.
const ocsfVersion = "1.3.0"

// Enumeration values of OCSF.
const (
	ocsfCategory        = 2    // Findings
	ocsfClass           = 2003 // Compliance Finding
	ocsfCreate          = 1    // activities
	ocsfClose           = 3
	ocsfNew             = 1 // statuses of a finding
	ocsfSuppressed      = 3
	ocsfResolved        = 4
	ocsfCompliancePass  = 1 // statuses of a check
	ocsfComplianceFails = 3
)

var ocsfSeverities = map[posture.FindingLevel]int{posture.LevelLow: 2, posture.LevelMedium: 3, posture.LevelHigh: 4}

// ocsfClouds maps providers to their names in OCSF.
var ocsfClouds = map[posture.Provider]string{posture.AWS: "AWS", posture.Azure: "Azure", posture.GCP: "GCP"}

type (
	ocsfEvent struct {
		ActivityID   int             `json:"activity_id"`
		ActivityName string          `json:"activity_name"`
		CategoryName string          `json:"category_name"`
		CategoryUID  int             `json:"category_uid"`
		ClassName    string          `json:"class_name"`
		ClassUID     int             `json:"class_uid"`
		Cloud        ocsfCloud       `json:"cloud"`
		Compliance   ocsfCompliance  `json:"compliance"`
		FindingInfo  ocsfFindingInfo `json:"finding_info"`
		Message      string          `json:"message"`
		Metadata     ocsfMetadata    `json:"metadata"`
		Remediation  ocsfRemediation `json:"remediation"`
		Resources    []ocsfResource  `json:"resources"`
		Severity     string          `json:"severity"`
		SeverityID   int             `json:"severity_id"`
		Status       string          `json:"status"`
		StatusID     int             `json:"status_id"`
		Time         int64           `json:"time"`
		TypeName     string          `json:"type_name"`
		TypeUID      int             `json:"type_uid"`
		Unmapped     ocsfUnmapped    `json:"unmapped"`
	}
	ocsfCloud struct {
		Provider string      `json:"provider"`
		Account  ocsfAccount `json:"account"`
		Region   string      `json:"region,omitempty"`
	}
	ocsfAccount struct {
		UID    string `json:"uid"`
		Type   string `json:"type"`
		TypeID int    `json:"type_id"`
	}
	ocsfCompliance struct {
		Control      string   `json:"control"`
		Requirements []string `json:"requirements"`
		Standards    []string `json:"standards"`
		Status       string   `json:"status"`
		StatusID     int      `json:"status_id"`
	}
	ocsfFindingInfo struct {
		UID          string   `json:"uid"`
		Title        string   `json:"title"`
		Desc         string   `json:"desc"`
		CreatedTime  int64    `json:"created_time"`
		ModifiedTime int64    `json:"modified_time"`
		Types        []string `json:"types"`
	}
	ocsfMetadata struct {
		EventCode string      `json:"event_code"`
		Product   ocsfProduct `json:"product"`
		Profiles  []string    `json:"profiles"`
		Version   string      `json:"version"`
	}
	ocsfProduct struct {
		Name       string `json:"name"`
		VendorName string `json:"vendor_name"`
		Version    string `json:"version"`
	}
	ocsfRemediation struct {
		Desc       string   `json:"desc"`
		References []string `json:"references,omitempty"`
	}
	ocsfResource struct {
		UID    string   `json:"uid"`
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		Region string   `json:"region,omitempty"`
		Group  ocsfName `json:"group"`
		Labels []string `json:"labels,omitempty"`
	}
	ocsfName struct {
		Name string `json:"name"`
	}
	ocsfUnmapped struct {
		RiskScore int    `json:"risk_score"`
		EntityID  string `json:"entity_id"`
	}
)

// ocsf writes an array of events, one per line.
type ocsf struct {
	array
	report Report
}

func newOCSF(w io.Writer, r Report) Writer { return &ocsf{array{w: w}, r} }

func (o *ocsf) Put(f posture.Finding) error { return o.put(ocsfOf(f, o.report)) }
func (o *ocsf) Flush() error                { return nil }
func (o *ocsf) Close() error                { return o.close() }

func ocsfOf(f posture.Finding, r Report) ocsfEvent {
	rule := r.rule(f.Rule)
	standards, requirements := r.controls(rule)
	if len(standards) == 0 {
		standards = []string{"Vigil"} // the schema requires one
	}
	e := ocsfEvent{
		ActivityID: ocsfCreate, ActivityName: "Create", CategoryName: "Findings", CategoryUID: ocsfCategory, ClassName: "Compliance Finding", ClassUID: ocsfClass,
		Cloud:      ocsfCloud{Provider: ocsfClouds[f.Provider], Account: ocsfAccountOf(f), Region: f.Region},
		Compliance: ocsfCompliance{Control: string(f.Rule), Requirements: requirements, Standards: standards, Status: "Fail", StatusID: ocsfComplianceFails},
		FindingInfo: ocsfFindingInfo{
			UID: string(f.ID), Title: rule.Name, Desc: rule.Description, CreatedTime: millis(f.Created), ModifiedTime: millis(f.Updated), Types: []string{rule.Category},
		},
		Message:     rule.Name + ": " + resourceName(f),
		Metadata:    ocsfMetadata{EventCode: string(f.Rule), Product: ocsfProduct{"Vigil", "Vigil", r.Version}, Profiles: []string{"cloud"}, Version: ocsfVersion},
		Remediation: ocsfRemediation{Desc: rule.SuggestedAction},
		Resources:   []ocsfResource{{resourceID(f), resourceName(f), string(f.ObjectType()), f.Region, ocsfName{f.Service}, labels(f.Tags)}},
		Severity:    string(f.Level), SeverityID: ocsfSeverities[f.Level], Status: "New", StatusID: ocsfNew, Time: millis(f.Updated),
		Unmapped: ocsfUnmapped{f.Risk.Score, string(f.Object)},
	}
	if rule.DocumentationLink != "" {
		e.Remediation.References = []string{rule.DocumentationLink}
	}
	switch {
	case f.Status == posture.FindingResolved:
		e.ActivityID, e.ActivityName, e.Status, e.StatusID = ocsfClose, "Close", "Resolved", ocsfResolved
		e.Compliance.Status, e.Compliance.StatusID = "Pass", ocsfCompliancePass
	case f.Suppressed(r.At):
		e.Status, e.StatusID = "Suppressed", ocsfSuppressed
	}
	e.TypeUID, e.TypeName = ocsfClass*100+e.ActivityID, "Compliance Finding: "+e.ActivityName
	return e
}

func ocsfAccountOf(f posture.Finding) ocsfAccount {
	a := ocsfAccount{UID: string(f.Account)}
	switch f.Provider {
	case posture.AWS:
		a.Type, a.TypeID = "AWS Account", 10
	case posture.GCP:
		a.Type, a.TypeID = "GCP Project", 11
	default:
		a.Type, a.TypeID = "Azure Subscription", 99 // Other: OCSF 1.3 has no value for a subscription
	}
	return a
}

// millis returns a time in milliseconds since 1970, and 0 for the zero time.
func millis(t time.Time) int64 { return max(0, t.UnixMilli()) }

// labels formats tags as name:value, sorted.
func labels(tags map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, name+":"+tags[name])
	}
	return all
}

// controls returns the frameworks of a rule as "name version", and the rule's controls as
// "framework number".
func (r Report) controls(rule posture.Rule) (standards, controls []string) {
	controls = []string{}
	for _, c := range rule.Controls {
		id, control, ok := strings.Cut(c, "_")
		if !ok {
			continue
		}
		name := id
		if f, ok := r.Frameworks[id]; ok {
			name = strings.TrimSpace(f.Name + " " + f.Version)
		}
		if !slices.Contains(standards, name) {
			standards = append(standards, name)
		}
		controls = append(controls, id+" "+control)
	}
	return standards, controls
}

// rule returns a rule. For a deleted rule it returns one that has only an id.
func (r Report) rule(id posture.RuleID) posture.Rule {
	if rule, ok := r.Rules[id]; ok {
		return rule
	}
	return posture.Rule{ID: id, Name: string(id), Description: "This rule was deleted.", SuggestedAction: "None.", Category: "Other"}
}
