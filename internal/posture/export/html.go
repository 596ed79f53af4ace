package export

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// maxListed is how many findings an HTML report lists. Browsers do not open much larger
// files. Further findings are only counted.
const maxListed = 5000

//go:embed report.html
var reportText string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"day":   func(r Report) string { return r.At.UTC().Format("2006-01-02 15:04 UTC") },
	"lower": func(l posture.FindingLevel) string { return strings.ToLower(string(l)) },
	"dict": func(titleKey, title, barsKey string, bars []bar) map[string]any {
		return map[string]any{titleKey: title, barsKey: bars}
	},
	"add":    func(a, b int) int { return a + b },
	"times":  func(width int) int { return width * 160 / 100 }, // percent to units of the SVG, in which the longest bar is 160 wide
	"height": func(b []bar) int { return barHeight * max(1, len(b)) },
	"short":  func(text string) string { return clip(text, 20) },
}).Parse(reportText))

// page writes an HTML report for people: one file with charts and without scripts,
// which can be printed.
type page struct {
	w         io.Writer
	report    Report
	started   bool
	listed    int
	remaining int
}

func newHTML(w io.Writer, r Report) Writer { return &page{w: w, report: r} }

func (p *page) begin() error {
	if p.started {
		return nil
	}
	p.started = true
	return reportPage.ExecuteTemplate(p.w, "head", map[string]any{
		"Report": p.report, "Levels": p.levels(), "Services": bars(p.report.Counts.Services), "Rules": p.rules(), "Accounts": bars(p.report.Counts.Accounts),
		"Compliance": p.compliance(),
	})
}

func (p *page) Put(f posture.Finding) error {
	if err := p.begin(); err != nil {
		return err
	}
	if p.listed == maxListed {
		p.remaining++
		return nil
	}
	p.listed++
	return reportPage.ExecuteTemplate(p.w, "finding", map[string]any{"F": f, "Rule": p.report.rule(f.Rule), "ID": resourceID(f), "Name": resourceName(f)})
}

func (p *page) Flush() error { return nil }

func (p *page) Close() error {
	if err := p.begin(); err != nil {
		return err
	}
	return reportPage.ExecuteTemplate(p.w, "foot", map[string]any{"Left": p.remaining, "Report": p.report})
}

// A segment of the donut chart of levels.
type segment struct {
	Level       posture.FindingLevel
	Count       int
	Dash, Start string // SVG attributes for a circle with the circumference 100
}

func (p *page) levels() (all []segment) {
	start := 0.0
	for _, level := range posture.FindingLevels {
		n := p.report.Counts.Levels[level]
		share := 0.0
		if p.report.Counts.Total > 0 {
			share = 100 * float64(n) / float64(p.report.Counts.Total)
		}
		// A circle begins at the right. The offset of 25, a quarter of it, moves the beginning to the top.
		all = append(all, segment{level, n, fmt.Sprintf("%.2f %.2f", share, 100-share), fmt.Sprintf("%.2f", 25-start)})
		start += share
	}
	return all
}

// A bar is one bar of a chart.
type bar struct {
	Name  string
	Count int
	Width int // in percent
	Y     int
}

// maxBars is the maximum number of bars in a chart.
const maxBars = 10

// barHeight is the height of a bar with the space below it, in the units of the SVG.
const barHeight = 20

// bars returns the largest counts in descending order.
func bars[K ~string](counts map[K]int) (all []bar) {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, key := range keys[:min(len(keys), maxBars)] {
		all = append(all, bar{string(key), counts[key], max(1, 100*counts[key]/max(1, counts[keys[0]])), barHeight * i})
	}
	return all
}

// A ruleLine is a row of the table of rules.
type ruleLine struct {
	Rule  posture.Rule
	Level posture.FindingLevel
	Count int
}

// rules returns the violated rules, the most severe first.
func (p *page) rules() (all []ruleLine) {
	for id, n := range p.report.Counts.Rules {
		rule := p.report.rule(id)
		all = append(all, ruleLine{rule, rule.Level.FindingLevel(), n})
	}
	order := func(l posture.FindingLevel) int { return slices.Index(posture.FindingLevels, l) }
	slices.SortFunc(all, func(a, b ruleLine) int {
		return cmp.Or(cmp.Compare(order(a.Level), order(b.Level)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return all
}

// A complianceLine is a framework with the segments of its bar.
type complianceLine struct {
	Compliance
	PassWidth, BadWidth, UnknownWidth int // of 200
	BadStart, UnknownStart            int
}

func (p *page) compliance() (all []complianceLine) {
	for _, c := range p.report.Compliance {
		n := max(1, len(c.Controls))
		l := complianceLine{Compliance: c, PassWidth: 200 * c.Pass / n, BadWidth: 200 * c.Violated / n, UnknownWidth: 200 * c.Unknown / n}
		l.BadStart, l.UnknownStart = l.PassWidth, l.PassWidth+l.BadWidth
		all = append(all, l)
	}
	return all
}
