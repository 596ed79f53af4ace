package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vigil/internal/posture"
)

// timeLayout is the time format of the API.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// A row is the form of a finding in CSV and JSON lines, with the field names of the
// API.
type row struct {
	ID             string            `json:"id"`
	Type           string            `json:"type"`
	RuleID         string            `json:"ruleId"`
	RuleName       string            `json:"ruleName,omitempty"`
	CloudAccountID string            `json:"cloudAccountId"`
	CloudProvider  string            `json:"cloudProvider"`
	EntityID       string            `json:"entityId"`
	ObjectID       string            `json:"objectId"`
	ObjectXID      string            `json:"objectXid"`
	ObjectName     string            `json:"objectName"`
	ObjectType     string            `json:"objectType"`
	Service        string            `json:"service"`
	Region         string            `json:"region"`
	Level          string            `json:"level"`
	CreationTime   string            `json:"creationTime"`
	LastUpdateTime string            `json:"lastUpdateTime"`
	ResolvedTime   string            `json:"resolvedTime,omitempty"`
	RiskScore      int               `json:"riskScore"`
	RiskParts      []riskPart        `json:"riskParts"`
	CloudTags      map[string]string `json:"cloudTags"`
	Status         string            `json:"status"`
	IsSuppressed   bool              `json:"isSuppressed"`
	Suppression    *suppression      `json:"suppression,omitempty"`
}

type riskPart struct {
	Name   string `json:"name"`
	Points int    `json:"points"`
	Why    string `json:"why"`
}

type suppression struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
	Since  string `json:"since"`
	Until  string `json:"until,omitempty"`
}

func rowOf(f posture.Finding, r Report) row {
	w := row{
		ID: string(f.ID), Type: "violation", RuleID: string(f.Rule), RuleName: r.Rules[f.Rule].Name, CloudAccountID: string(f.Account),
		CloudProvider: string(f.Provider), EntityID: string(f.Object), ObjectID: f.ObjectID(), ObjectXID: resourceID(f), ObjectName: resourceName(f),
		ObjectType: string(f.ObjectType()), Service: f.Service, Region: f.Region, Level: string(f.Level), CreationTime: timeText(f.Created),
		LastUpdateTime: timeText(f.Updated), ResolvedTime: timeText(f.Resolved), RiskScore: f.Risk.Score, RiskParts: make([]riskPart, len(f.Risk.Parts)),
		CloudTags: f.Tags, Status: string(f.Status), IsSuppressed: f.Suppressed(r.At),
	}
	for i, p := range f.Risk.Parts {
		w.RiskParts[i] = riskPart(p)
	}
	if s := f.Suppression; s != nil {
		w.Suppression = &suppression{s.By, s.Reason, timeText(s.Since), timeText(s.Until)}
	}
	return w
}

// resourceID returns the cloud's identifier of the object, or its entity id.
func resourceID(f posture.Finding) string {
	if f.XID != "" {
		return f.XID
	}
	return string(f.Object)
}

// resourceName returns the display name of the object.
func resourceName(f posture.Finding) string {
	if f.Name != "" {
		return f.Name
	}
	return f.ObjectID()
}

// lines writes one JSON object per line.
type lines struct {
	encoder *json.Encoder
	report  Report
}

func newLines(w io.Writer, r Report) Writer {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &lines{encoder, r}
}

func (l *lines) Put(f posture.Finding) error { return l.encoder.Encode(rowOf(f, l.report)) }
func (l *lines) Flush() error                { return nil }
func (l *lines) Close() error                { return nil }

// table writes CSV with a header row.
type table struct {
	csv     *csv.Writer
	report  Report
	started bool
}

func newCSV(w io.Writer, r Report) Writer { return &table{csv: csv.NewWriter(w), report: r} }

var columns = []string{
	"id", "ruleId", "level", "riskScore", "status", "isSuppressed", "cloudProvider", "cloudAccountId", "service", "region", "objectType", "objectName",
	"objectId", "entityId", "objectXid", "creationTime", "lastUpdateTime", "resolvedTime", "cloudTags", "ruleName",
}

func (t *table) begin() error {
	if t.started {
		return nil
	}
	t.started = true
	return t.csv.Write(columns)
}

func (t *table) Put(f posture.Finding) error {
	if err := t.begin(); err != nil {
		return err
	}
	r := rowOf(f, t.report)
	tags, err := json.Marshal(r.CloudTags)
	if err != nil {
		return fmt.Errorf("write tags: %w", err)
	}
	cells := []string{
		r.ID, r.RuleID, r.Level, strconv.Itoa(r.RiskScore), r.Status, strconv.FormatBool(r.IsSuppressed), r.CloudProvider, r.CloudAccountID, r.Service, r.Region,
		r.ObjectType, r.ObjectName, r.ObjectID, r.EntityID, r.ObjectXID, r.CreationTime, r.LastUpdateTime, r.ResolvedTime, string(tags), r.RuleName,
	}
	for i := range cells {
		cells[i] = PlainCell(cells[i])
	}
	return t.csv.Write(cells)
}

func (t *table) Flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

func (t *table) Close() error {
	if err := t.begin(); err != nil {
		return err
	}
	return t.Flush()
}

// PlainCell prevents CSV injection: it prefixes a text that a spreadsheet would
// interpret as a formula. Some texts, such as tags, come from untrusted people.
func PlainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
