package api

import (
	"context"
	"net/http"
	"slices"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/export"
)

type findingExport struct {
	findingList
	Format string `json:"format" enum:"csv,jsonl,ocsf,sarif,asff,junit,html"`
}

// openOnly are the formats that show current problems. By default they contain only
// open findings.
var openOnly = []export.Format{export.SARIF, export.JUnit, export.HTML}

func (a *API) exportFindings(w http.ResponseWriter, r *http.Request) error {
	var in findingExport
	if err := httpapi.Bind(r, &in); err != nil {
		return err
	}
	ctx := r.Context()
	filter, err := a.findingFilter(ctx, in.Filters)
	if err != nil {
		return err
	}
	format := export.Format(in.Format)
	if format == "" {
		format = export.CSV
	}
	sorts := in.sorts()
	if slices.Contains(openOnly, format) {
		if len(filter.Statuses) == 0 {
			filter.Statuses = []posture.FindingStatus{posture.FindingOpen}
		}
		// SARIF contains suppressed findings too, and marks them as suppressed.
		if filter.Suppressed == nil && format != export.SARIF {
			filter.Suppressed = new(false)
		}
		if len(sorts) == 0 {
			sorts = []posture.FindingSort{{Field: "riskScore", Desc: true}}
		}
	}
	report, err := a.report(ctx, format, filter)
	if err != nil {
		return err
	}
	body := &attachment{w: w, name: "findings" + format.Suffix(), media: format.MediaType()}
	out, err := export.New(body, format, report)
	if err != nil {
		return err
	}
	written := 0
	for p := (posture.Page{Size: posture.MaxPage}); ; {
		page, err := a.Findings.Findings(ctx, a.Org(ctx), filter, sorts, p, a.Now())
		if err != nil {
			return err
		}
		for _, f := range page.Findings {
			if err := out.Put(f); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if err := body.flush(); err != nil {
			return err
		}
		written += len(page.Findings)
		if page.Next == "" || written >= maxExported {
			break
		}
		p.After = page.Next
	}
	if err := out.Close(); err != nil {
		return err
	}
	return body.flush()
}

// report collects the data that a format needs besides the findings.
func (a *API) report(ctx context.Context, format export.Format, f posture.FindingFilter) (export.Report, error) {
	r := export.Report{Version: a.Version, At: a.Now(), Rules: map[posture.RuleID]posture.Rule{}, Frameworks: map[string]posture.Framework{}}
	rules, err := a.Book.Rules(ctx, a.Org(ctx))
	if err != nil {
		return r, err
	}
	frameworks, err := a.Book.Frameworks(ctx, a.Org(ctx))
	if err != nil {
		return r, err
	}
	for _, framework := range frameworks {
		r.Frameworks[framework.ID] = framework
	}
	for _, rule := range rules {
		// JUnit has a test for every rule. Disabled rules have no results, so JUnit omits them.
		if format != export.JUnit || rule.Status == posture.RuleEnabled {
			r.Rules[rule.ID] = rule
		}
	}
	if format != export.JUnit && format != export.HTML {
		return r, nil
	}
	if r.Counts, err = a.counts(ctx, f); err != nil {
		return r, err
	}
	verdicts, err := a.Findings.Verdicts(ctx, a.Org(ctx), nil, idsOf[posture.AccountID](f.Accounts))
	if err != nil {
		return r, err
	}
	r.Verdicts = map[posture.RuleID]posture.ControlPosture{}
	for _, v := range verdicts {
		r.Verdicts[v.Rule] = r.Verdicts[v.Rule].Add(v.ControlPosture)
	}
	if err := a.countNotListed(ctx, rules, f.Accounts, r.Verdicts); err != nil {
		return r, err
	}
	if format != export.HTML {
		return r, nil
	}
	for _, framework := range frameworks {
		assessed, err := a.assessmentsInForce(ctx, framework.ID)
		if err != nil {
			return r, err
		}
		if c := export.Comply(framework, r.Rules, r.Verdicts, assessed); c.Pass+c.Violated+c.Unknown > 0 {
			r.Compliance = append(r.Compliance, c)
		}
	}
	return r, nil
}

// counts counts the findings of a report.
func (a *API) counts(ctx context.Context, f posture.FindingFilter) (export.Counts, error) {
	aggregationOf := func(name string) posture.Aggregation { return posture.Aggregation{Of: posture.Attribute{Name: name}} }
	total, found, err := a.Findings.AggregateFindings(ctx, a.Org(ctx), f, map[string]posture.Aggregation{
		"level": aggregationOf("level"), "rule": aggregationOf("ruleId"), "service": aggregationOf("service"), "account": aggregationOf("cloudAccountId"), "region": aggregationOf("region"),
	}, a.Now())
	return export.Counts{
		Total: total, Levels: countsOf[posture.FindingLevel](found["level"]), Rules: countsOf[posture.RuleID](found["rule"]), Services: countsOf[string](found["service"]),
		Accounts: countsOf[posture.AccountID](found["account"]), Regions: countsOf[string](found["region"]),
	}, err
}

func countsOf[K ~string](buckets posture.Buckets) map[K]int {
	counts := make(map[K]int, len(buckets))
	for value, b := range buckets {
		counts[K(value)] = b.Count
	}
	return counts
}

// An attachment is a response body that clients save as a file. Its headers are sent
// with the first byte, so that earlier errors can still be reported with a status.
type attachment struct {
	w           http.ResponseWriter
	name, media string
	started     bool
}

// Write implements [io.Writer].
func (a *attachment) Write(text []byte) (int, error) {
	if !a.started {
		a.started = true
		a.w.Header().Set("Content-Type", a.media)
		a.w.Header().Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
		a.w.WriteHeader(http.StatusOK)
	}
	return a.w.Write(text)
}

// flush sends buffered data. It sends the headers even if the body is empty.
func (a *attachment) flush() error {
	if _, err := a.Write(nil); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}
