// Package export writes findings in file formats of other programs.
//
// A [Writer] writes findings one by one and keeps none in memory, so that memory use
// does not depend on their number. Data that a format needs before the first finding,
// such as totals, is in the [Report].
package export

import (
	"io"
	"path"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Format is a file format.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	Lines Format = "jsonl" // one JSON object per line
	OCSF  Format = "ocsf"  // Open Cybersecurity Schema Framework, class Compliance Finding
	SARIF Format = "sarif" // 2.1.0, for GitHub code scanning and others
	ASFF  Format = "asff"  // AWS Security Finding Format, for Security Hub
	JUnit Format = "junit" // for CI pipelines that show test results
	HTML  Format = "html"  // a report for people, also for printing
)

// Formats lists the formats.
var Formats = []Format{CSV, Lines, OCSF, SARIF, ASFF, JUnit, HTML}

// A form describes a format.
type form struct {
	media  string
	suffix string
	open   func(io.Writer, Report) Writer
}

var forms = map[Format]form{
	CSV:   {"text/csv; charset=utf-8", ".csv", newCSV},
	Lines: {"application/jsonl", ".jsonl", newLines},
	OCSF:  {"application/json", ".ocsf.json", newOCSF},
	SARIF: {"application/sarif+json", ".sarif", newSARIF},
	ASFF:  {"application/json", ".asff.json", newASFF},
	JUnit: {"application/xml", ".xml", newJUnit},
	HTML:  {"text/html; charset=utf-8", ".html", newHTML},
}

// MediaType returns the media type of the format.
func (f Format) MediaType() string { return forms[f].media }

// Suffix returns the suffix of file names in the format: ".csv".
func (f Format) Suffix() string { return forms[f].suffix }

// FormatOf returns the format of a file name: the one with the longest matching suffix.
func FormatOf(file string) (Format, bool) {
	var best Format
	for _, f := range Formats {
		if strings.HasSuffix(strings.ToLower(path.Base(file)), f.Suffix()) && len(f.Suffix()) > len(best.Suffix()) {
			best = f
		}
	}
	return best, best != ""
}

// A Report holds the data beside the findings.
type Report struct {
	Version string    // of Vigil
	At      time.Time // when the report was made
	Scope   string    // description of the scope, for people
	Rules   map[posture.RuleID]posture.Rule

	Frameworks map[string]posture.Framework              // by id
	Counts     Counts                                    // of the findings; for JUnit and HTML
	Verdicts   map[posture.RuleID]posture.ControlPosture // for JUnit, to find rules that did not pass
	Compliance []Compliance                              // for HTML
}

// A Writer writes findings one by one.
type Writer interface {
	// Put writes a finding.
	Put(f posture.Finding) error

	// Flush writes buffered data.
	Flush() error

	// Close writes the end of the file. It does not close the underlying writer.
	Close() error
}

// New returns a writer for a format. It writes nothing before the first Put or Close.
func New(w io.Writer, f Format, r Report) (Writer, error) {
	known, ok := forms[f]
	if !ok {
		return nil, fault.Field("format", "must be one of %s", List())
	}
	return known.open(w, r), nil
}

// List returns the names of the formats, for messages.
func List() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
