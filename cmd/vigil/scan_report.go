package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/export"
	"vigil/internal/posture/scan"
	"vigil/internal/terminal"
)

// A scanReport is the combined result of the scans of one command.
type scanReport struct {
	flags    *scanFlags
	catalog  *catalog.Catalog
	targets  []scan.Target
	results  []scan.Result
	findings []posture.Finding // highest risk first
	rules    map[posture.RuleID]posture.Rule
	verdicts map[posture.RuleID]posture.ControlPosture
}

// add adds the result of one account.
func (r *scanReport) add(t scan.Target, s scan.Result) {
	r.targets, r.results = append(r.targets, t), append(r.results, s)
	if r.rules == nil {
		r.rules, r.verdicts = map[posture.RuleID]posture.Rule{}, map[posture.RuleID]posture.ControlPosture{}
	}
	for _, rule := range s.Rules {
		r.rules[rule.ID] = rule
	}
	for id, v := range s.Verdicts {
		r.verdicts[id] = r.verdicts[id].Add(v)
	}
	r.findings = append(r.findings, s.Findings...)
	if len(r.results) > 1 {
		slices.SortStableFunc(r.findings, func(a, b posture.Finding) int { return cmp.Compare(b.Risk.Score, a.Risk.Score) })
	}
}

// exportReport returns the data that exports need besides the findings.
func (r *scanReport) exportReport() export.Report {
	report := export.Report{
		Version: version, At: time.Now(), Rules: r.rules, Verdicts: r.verdicts, Counts: export.Count(r.findings), Frameworks: map[string]posture.Framework{},
	}
	accounts := make([]string, len(r.targets))
	for i, t := range r.targets {
		accounts[i] = string(t.Access.Account.ID)
	}
	report.Scope = "a scan of " + strings.Join(accounts, ", ")
	for _, f := range r.catalog.Frameworks {
		report.Frameworks[f.ID] = f
		if c := export.Comply(f, r.rules, r.verdicts, nil); c.Pass+c.Violated+c.Unknown > 0 && (len(r.flags.Framework) == 0 || r.isSelected(f.ID)) {
			report.Compliance = append(report.Compliance, c)
		}
	}
	return report
}

// isSelected reports whether a framework was selected.
func (r *scanReport) isSelected(framework string) bool {
	return slices.ContainsFunc(r.flags.Framework, func(id string) bool { return strings.EqualFold(id, framework) })
}

// failingLevels returns the level of --fail-on and higher ones, or none for "none".
func failingLevels(level string) []posture.FindingLevel {
	i := slices.IndexFunc(posture.FindingLevels, func(l posture.FindingLevel) bool { return strings.EqualFold(string(l), level) })
	return posture.FindingLevels[:i+1] // i is -1 for "none"
}

// failOn returns the error that a number of findings have the level of --fail-on or a higher one.
func failOn(findings int, level string) error {
	text := fmt.Sprintf("%d findings are %s", findings, level)
	if findings == 1 {
		text = "1 finding is " + level
	}
	if len(failingLevels(level)) > 1 {
		text += " or higher"
	}
	return &exitError{exitFindings, text}
}

// levelColours are the terminal colours of the levels.
var levelColours = map[posture.FindingLevel]terminal.Colour{
	posture.LevelHigh: terminal.Red, posture.LevelMedium: terminal.Yellow, posture.LevelLow: terminal.Blue,
}

// exit returns the error with the exit code, or nil.
func (r *scanReport) exit() error {
	levels := failingLevels(r.flags.FailOn)
	if len(levels) == 0 {
		return nil
	}
	bad := 0
	for _, f := range r.findings {
		if slices.Contains(levels, f.Level) {
			bad++
		}
	}
	if bad > 0 {
		return failOn(bad, r.flags.FailOn)
	}
	unknown := 0
	for id, v := range r.verdicts {
		if v.Unknown+v.NotListed > 0 && slices.Contains(levels, r.rules[id].Level.FindingLevel()) {
			unknown++
		}
	}
	if unknown > 0 && r.flags.Unknown == "fail" {
		return &exitError{exitUnknown, fmt.Sprintf("%d rules could not be decided for all resources, because something could not be read; --unknown ignore lets that pass", unknown)}
	}
	return nil
}

// print writes the report as text.
func (r *scanReport) print(w io.Writer) {
	style := terminal.StyleOf(w)
	for i, t := range r.targets {
		account := t.Access.Account
		name := string(account.ID)
		if account.Name != "" {
			name += " (" + terminal.OneLine(account.Name) + ")"
		}
		fmt.Fprintf(w, "%s %s", map[posture.Provider]string{posture.AWS: "AWS account", posture.Azure: "Azure subscription", posture.GCP: "Google Cloud project"}[account.Provider], style.Paint(terminal.Bold, name))
		if t.As != "" {
			fmt.Fprintf(w, ", read as %s", terminal.OneLine(t.As))
		}
		s := r.results[i]
		fmt.Fprintf(w, ": %d resources in %.1f s\n", s.Outcome.Entities, s.Ended.Sub(s.Started).Seconds())
	}
	for _, level := range posture.FindingLevels {
		r.printLevel(w, style, level)
	}
	r.printUnread(w, style)
	r.printUnavailable(w)
	fmt.Fprintln(w)
	r.printSummary(w, style)
}

// printLevel lists the violated rules of a level, those with the highest risk first.
func (r *scanReport) printLevel(w io.Writer, style terminal.Style, level posture.FindingLevel) {
	findingsOf := map[posture.RuleID][]posture.Finding{}
	var order []posture.RuleID
	for _, f := range r.findings {
		if f.Level != level {
			continue
		}
		if findingsOf[f.Rule] == nil {
			order = append(order, f.Rule)
		}
		findingsOf[f.Rule] = append(findingsOf[f.Rule], f)
	}
	for _, id := range order {
		found, rule := findingsOf[id], r.rules[id]
		fmt.Fprintf(w, "\n%s %s  %s\n", style.Paint(levelColours[level], fmt.Sprintf("%-6s", level)), style.Paint(terminal.Bold, rule.Name), style.Paint(terminal.Faint, string(id)))
		for i, f := range found {
			if r.flags.List > 0 && i == r.flags.List {
				fmt.Fprintf(w, "         and %d more\n", len(found)-i)
				break
			}
			fmt.Fprintf(w, "       %3d %s  %s\n", f.Risk.Score, terminal.OneLine(cmp.Or(f.XID, string(f.Object))), style.Paint(terminal.Faint, f.Region))
		}
	}
}

// maxShown is the maximum number of read errors that are printed.
const maxShown = 10

// printUnread prints what could not be read, one line per reason.
func (r *scanReport) printUnread(w io.Writer, style terminal.Style) {
	type problem struct {
		kind   posture.EntityType
		reason string
	}
	regions := map[problem][]string{}
	var order []problem
	for _, s := range r.results {
		for _, u := range append(slices.Clone(s.Outcome.Unread), deniedScopes(s.Outcome)...) {
			p := problem{u.Type, u.Why}
			if regions[p] == nil {
				order = append(order, p)
			}
			regions[p] = append(regions[p], u.Region)
		}
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", style.Paint(terminal.Yellow, "Not everything could be read; rules that need it have unknown results:"))
	for i, p := range order {
		if i == maxShown {
			fmt.Fprintf(w, "       and %d more; --verbose lists all\n", len(order)-i)
			break
		}
		where := ""
		switch named := namedRegions(regions[p]); len(named) {
		case 0:
		case 1:
			where = " in " + named[0]
		default:
			where = fmt.Sprintf(" in %d regions", len(named))
		}
		fmt.Fprintf(w, "       %s%s: %s\n", p.kind, where, terminal.OneLine(p.reason))
	}
}

// namedRegions returns the distinct regions in order, without the global one.
func namedRegions(regions []string) []string {
	named := slices.Compact(slices.Sorted(slices.Values(regions)))
	return slices.DeleteFunc(named, func(region string) bool { return region == posture.Global })
}

// deniedScopes returns the errors of reading details of listed resources. The errors of a type include those of its lists that could
// not be read, with the region in front; it skips these, because they are among the unread units.
func deniedScopes(o collect.Outcome) (all []collect.Unread) {
	type problem struct {
		kind   posture.EntityType
		reason string
	}
	lists := map[problem]bool{}
	for _, u := range o.Unread {
		lists[problem{u.Type, u.Why}], lists[problem{u.Type, u.Region + ": " + u.Why}] = true, true
	}
	for kind, c := range o.Collectors {
		for _, reason := range c.Errors {
			if !lists[problem{kind, reason}] {
				all = append(all, collect.Unread{Type: kind, Region: posture.Global, Why: reason})
			}
		}
	}
	slices.SortFunc(all, func(a, b collect.Unread) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Why, b.Why)) })
	return all
}

// printSummary prints the numbers of findings and rules.
func (r *scanReport) printSummary(w io.Writer, style terminal.Style) {
	counts := map[posture.FindingLevel]int{}
	for _, f := range r.findings {
		counts[f.Level]++
	}
	parts := make([]string, len(posture.FindingLevels))
	for i, level := range posture.FindingLevels {
		parts[i] = style.Paint(levelColours[level], fmt.Sprintf("%d %s", counts[level], strings.ToLower(string(level))))
	}
	violated, unknown, passed, idle := 0, 0, 0, 0
	for id := range r.rules {
		switch v := r.verdicts[id]; {
		case v.Violating > 0:
			violated++
		case v.Unknown+v.NotListed > 0:
			unknown++
		case v.Passing > 0:
			passed++
		default:
			idle++
		}
	}
	fmt.Fprintf(w, "%d findings: %s\n", len(r.findings), strings.Join(parts, ", "))
	fmt.Fprintf(w, "%d rules: %d violated, %d passed, %d unknown, %d without resources\n", len(r.rules), violated, passed, unknown, idle)
	for _, f := range r.catalog.Frameworks {
		if r.isSelected(f.ID) {
			c := export.Comply(f, r.rules, r.verdicts, nil)
			fmt.Fprintf(w, "%s %s: %d of %d controls pass, %d are violated, %d unknown, %d not applicable, %d are not checked\n", f.Name, f.Version, c.Pass, len(c.Controls), c.Violated, c.Unknown, c.NotApplicable, c.Unchecked)
		}
	}
}
