package api

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/export"
)

// The formats of exports.
const (
	formatCSV   = "csv"
	formatLines = "jsonl"
)

// maxExported limits the records of one export.
const maxExported = 1_000_000

type (
	exportFormat struct {
		Format string `json:"format" enum:"csv,jsonl"`
	}
	entityExport struct {
		Filters entityFilters `json:"filters" null:"absent"`
		exportFormat
	}
	postureExport struct {
		postureIn
		exportFormat
	}
)

// An exporter writes records one by one, as JSON lines or CSV rows. It sends nothing
// before the first record or the end, so that errors can still be reported with a
// status.
type exporter struct {
	w       http.ResponseWriter
	name    string
	columns []string
	csv     *csv.Writer // nil for JSON lines
	lines   *json.Encoder
	started bool
	written int
}

func newExporter(w http.ResponseWriter, format, name string, columns ...string) *exporter {
	x := &exporter{w: w, name: name, columns: columns}
	if format == formatLines {
		x.lines = json.NewEncoder(w)
		x.lines.SetEscapeHTML(false)
	} else {
		x.csv = csv.NewWriter(w)
	}
	return x
}

// begin sends the headers and the header row of CSV.
func (x *exporter) begin() error {
	if x.started {
		return nil
	}
	x.started = true
	kind, suffix := "application/jsonl", formatLines
	if x.csv != nil {
		kind, suffix = "text/csv; charset=utf-8", formatCSV
	}
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+x.name+"."+suffix+`"`)
	x.w.WriteHeader(http.StatusOK)
	if x.csv != nil {
		return x.csv.Write(x.columns)
	}
	return nil
}

// put writes one record. JSON lines contain record, and CSV contains row.
func (x *exporter) put(record any, row ...string) error {
	if err := x.begin(); err != nil {
		return err
	}
	x.written++
	if x.csv == nil {
		return x.lines.Encode(record)
	}
	for i := range row {
		row[i] = export.PlainCell(row[i])
	}
	return x.csv.Write(row)
}

// flush sends buffered data.
func (x *exporter) flush() error {
	if err := x.begin(); err != nil {
		return err
	}
	if x.csv != nil {
		x.csv.Flush()
		if err := x.csv.Error(); err != nil {
			return err
		}
	}
	return http.NewResponseController(x.w).Flush()
}

// pages calls read for page after page, until the last or until maxExported records are
// written. read writes the records of a page with put.
func (x *exporter) pages(read func(p posture.Page) (next string, err error)) error {
	for p := (posture.Page{Size: posture.MaxPage}); ; {
		next, err := read(p)
		if err != nil {
			return err
		}
		if err := x.flush(); err != nil {
			return err
		}
		if next == "" || x.written >= maxExported {
			return nil
		}
		p.After = next
	}
}

func timeCell(t *httpapi.Time) string {
	if t == nil {
		return ""
	}
	text, err := t.MarshalText()
	if err != nil {
		return ""
	}
	return string(text)
}

func (a *API) exportEntities(w http.ResponseWriter, r *http.Request) error {
	var in entityExport
	if err := httpapi.Bind(r, &in); err != nil {
		return err
	}
	ctx := r.Context()
	filter, err := in.Filters.filter()
	if err != nil {
		return err
	}
	x := newExporter(w, in.Format, "resources", "entityId", "entityType", "entityName", "provider", "cloudAccountId", "region", "service", "xid",
		"creationTime", "lastUpdateTime", "tags", "properties")
	return x.pages(func(p posture.Page) (string, error) {
		page, err := a.listEntities(ctx, entityList{Filters: in.Filters}, filter, p)
		if err != nil {
			return "", err
		}
		for _, found := range page.Entities {
			e := entityOf(found)
			tags, err := json.Marshal(e.Tags)
			if err != nil {
				return "", fmt.Errorf("write tags: %w", err)
			}
			properties, err := json.Marshal(e.Properties)
			if err != nil {
				return "", fmt.Errorf("write properties: %w", err)
			}
			if err := x.put(e, e.EntityID, e.EntityType, e.EntityName, e.Provider, e.CloudAccountID, e.Region, e.Service, e.XID, timeCell(&e.CreationTime),
				timeCell(&e.LastUpdateTime), string(tags), string(properties)); err != nil {
				return "", err
			}
		}
		return page.Next, nil
	})
}

func (a *API) exportPosture(w http.ResponseWriter, r *http.Request) error {
	var in postureExport
	if err := httpapi.Bind(r, &in); err != nil {
		return err
	}
	found, err := a.getPosture(r.Context(), in.postureIn)
	if err != nil {
		return err
	}
	x := newExporter(w, in.Format, "posture", "controlId", "title", "section", "verdict", "violating", "passing", "unknown", "ruleIds", "notApplicable", "notListed", "time", "cloudAccountIds")
	now := timeCell(&httpapi.Time{Time: a.Now()})
	accounts := cmp.Or(strings.Join(in.CloudAccountIDs, " "), "all")
	for _, c := range found.Results {
		if err := x.put(c, c.ControlID, c.Title, c.Section, c.verdict(), strconv.Itoa(c.Violating), strconv.Itoa(c.Passing), strconv.Itoa(c.Unknown),
			strings.Join(c.RuleIDs, " "), strconv.Itoa(c.NotApplicable), strconv.Itoa(c.NotListed), now, accounts); err != nil {
			return err
		}
	}
	return x.flush()
}

// verdict summarises a control.
func (p controlPosture) verdict() string {
	var assessed posture.AssessmentVerdict
	if p.Assessed != nil && p.Assessed.InForce {
		assessed = p.Assessed.Verdict
	}
	return export.VerdictOf(posture.ControlPosture{Violating: p.Violating, Passing: p.Passing, Unknown: p.Unknown, NotListed: p.NotListed}, len(p.RuleIDs), assessed)
}

// exportRoutes are the routes that stream lists as files.
func (a *API) exportRoutes() []httpapi.Route {
	limits := httpapi.Limits{Timeout: -1, Rate: httpapi.RateHeavy} // a negative Timeout means no limit
	return []httpapi.Route{
		{Pattern: "POST /v2/findings/export", Need: viewer, Operation: "exportFindings", Limited: true, Safe: true, Limits: limits, Handler: httpapi.Stream(a.exportFindings)},
		{Pattern: "POST /v1/entities/export", Need: viewer, Operation: "exportEntities", Limited: true, Safe: true, Limits: limits, Handler: httpapi.Stream(a.exportEntities)},
		{Pattern: "POST /v1/compliance-frameworks/{framework_id}/posture/export", Need: viewer, Operation: "exportPosture", Limited: true, Safe: true, Limits: limits, Handler: httpapi.Stream(a.exportPosture)},
	}
}
