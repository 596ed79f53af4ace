package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"

	"vigil/internal/posture"
)

// junit writes a test suite in which every finding is a failed test, and every rule
// without findings a passed or skipped one. Its header has the totals, which come from the
// report.
type junit struct {
	w       io.Writer
	report  Report
	started bool
}

func newJUnit(w io.Writer, r Report) Writer { return &junit{w: w, report: r} }

type (
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Skipped *junitSkipped `xml:"skipped,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// casesWithoutFindings returns the test cases of rules without findings: passed, or skipped if the
// result is unknown, no resource passed, or the report excludes all violations.
func (j *junit) casesWithoutFindings() (cases []junitCase, skipped int) {
	for _, id := range slices.Sorted(maps.Keys(j.report.Rules)) {
		if j.report.Counts.Rules[id] > 0 {
			continue
		}
		c := junitCase{Class: string(id), Name: j.report.Rules[id].Name}
		switch v := j.report.Verdicts[id]; {
		case v.Violating > 0:
			skipped++
			c.Skipped = &junitSkipped{fmt.Sprintf("%d violations are suppressed or excluded by the filters", v.Violating)}
		case v.Unknown > 0:
			skipped++
			c.Skipped = &junitSkipped{fmt.Sprintf("unknown for %d resources that could not be read completely", v.Unknown)}
		case v.NotListed > 0:
			skipped++
			c.Skipped = &junitSkipped{fmt.Sprintf("unknown because resources could not be listed in %d regions or types", v.NotListed)}
		case v.Passing == 0:
			skipped++
			c.Skipped = &junitSkipped{"no resource passed: the rule applies to none, or was not evaluated yet"}
		}
		cases = append(cases, c)
	}
	return cases, skipped
}

func (j *junit) begin() error {
	if j.started {
		return nil
	}
	j.started = true
	cases, skipped := j.casesWithoutFindings()
	failed := j.report.Counts.Total
	_, err := fmt.Fprintf(j.w, "%s<testsuites name=\"Vigil\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n<testsuite name=\"Vigil\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" timestamp=\"%s\">\n",
		xml.Header, failed+len(cases), failed, skipped, failed+len(cases), failed, skipped, j.report.At.UTC().Format("2006-01-02T15:04:05"))
	return err
}

func (j *junit) write(c junitCase) error {
	text, err := xml.Marshal(c)
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(text, '\n'))
	return err
}

func (j *junit) Put(f posture.Finding) error {
	if err := j.begin(); err != nil {
		return err
	}
	rule := j.report.rule(f.Rule)
	return j.write(junitCase{Class: string(f.Rule), Name: resourceID(f), Failure: &junitFailure{
		Message: rule.Name, Type: string(f.Level),
		Text: fmt.Sprintf("%s\n\nResource: %s (%s) in %s of %s\nRisk: %d\nRemediation: %s\n", rule.Description, resourceID(f), f.ObjectType(), f.Region, f.Account, f.Risk.Score, rule.SuggestedAction),
	}})
}

func (j *junit) Flush() error { return nil }

func (j *junit) Close() error {
	if err := j.begin(); err != nil {
		return err
	}
	cases, _ := j.casesWithoutFindings()
	for _, c := range cases {
		if err := j.write(c); err != nil {
			return err
		}
	}
	_, err := io.WriteString(j.w, "</testsuite>\n</testsuites>\n")
	return err
}
