// Package export writes findings in the formats that other programs read.
//
// A [Writer] takes one finding after another and keeps none of them, so that a
// million findings need no more memory than ten. What a format must know before
// the first finding, such as totals, comes with the [Report].
package export

import (
	"io"
	"path"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Format is one of the forms that findings are written in.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	Lines Format = "jsonl" // one JSON object a line
	OCSF  Format = "ocsf"  // events of the class Compliance Finding of the Open Cybersecurity Schema Framework
	SARIF Format = "sarif" // 2.1.0, for code scanning of GitHub and others
	ASFF  Format = "asff"  // AWS Security Finding Format, for Security Hub
	JUnit Format = "junit" // for pipelines that show tests
	HTML  Format = "html"  // for people, on screen and on paper
)

// Formats lists them.
var Formats = []Format{CSV, Lines, OCSF, SARIF, ASFF, JUnit, HTML}

// A form is what is known of a format.
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

// Suffix returns what the names of files in the format end in: ".csv".
func (f Format) Suffix() string { return forms[f].suffix }

// FormatOf returns the format that the name of a file asks for: the one with the
// longest suffix that fits.
func FormatOf(file string) (Format, bool) {
	var best Format
	for _, f := range Formats {
		if strings.HasSuffix(strings.ToLower(path.Base(file)), f.Suffix()) && len(f.Suffix()) > len(best.Suffix()) {
			best = f
		}
	}
	return best, best != ""
}

// A Report is what is known beside the findings themselves.
type Report struct {
	Version string    // of Vigil
	At      time.Time // when the report is made
	Scope   string    // what it is about, for people
	Rules   map[posture.RuleID]posture.Rule

	Frameworks map[string]posture.Framework              // by id
	Counts     Counts                                    // of the findings; JUnit and HTML need them
	Verdicts   map[posture.RuleID]posture.ControlPosture // JUnit tells rules that could not be decided
	Compliance []Compliance                              // HTML shows it
}

// A Writer writes findings one after another.
type Writer interface {
	// Put writes a finding.
	Put(f posture.Finding) error

	// Flush hands on what was put so far.
	Flush() error

	// Close writes the end. It does not close what is written to.
	Close() error
}

// New returns a writer of a format. It writes nothing before the first Put or
// Close.
func New(w io.Writer, f Format, r Report) (Writer, error) {
	known, ok := forms[f]
	if !ok {
		return nil, fault.Field("format", "must be one of %s", List())
	}
	return known.open(w, r), nil
}

// List names the formats, for messages.
func List() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
