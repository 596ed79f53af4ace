package api

import (
	"context"
	"errors"
	"strings"

	"vigil/gremlin"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/judge"
	"vigil/internal/posture/queryfault"
)

type (
	tryRuleIn struct {
		boundQuery
		PartitionKey string `json:"partitionKey" required:"true"`
	}
	// boundQuery is a query whose variables are the parameters and the table of a rule.
	boundQuery struct {
		Query           string         `json:"query" required:"true"`
		RuleID          string         `json:"ruleId"`
		ParameterValues map[string]any `json:"parameterValues" maxItems:"20"` // in place of those that the rule has
	}
	triedEntity struct {
		Verdict string `json:"verdict"`
		Entity  entity `json:"entity"`
	}
	queryReads struct {
		EntityTypes []string `json:"entityTypes"`
		FindsTypes  []string `json:"findsTypes"`
		Properties  []string `json:"properties"`
		Edges       []string `json:"edges"`
		Clock       bool     `json:"clock"`
		NotInSchema []string `json:"notInSchema"`
	}
	triedCost struct {
		Traversers int64   `json:"traversers"`
		Generation int64   `json:"generation"`
		WaitedMs   float64 `json:"waitedMs"`
		RanMs      float64 `json:"ranMs"`
	}
	queryError struct {
		Message   string `json:"message"`
		Line      int    `json:"line,omitempty"`
		Column    int    `json:"column,omitempty"`
		EndColumn int    `json:"endColumn,omitempty"`
		Hint      string `json:"hint,omitempty"`
	}
	checkRuleOut struct {
		Valid   bool          `json:"valid"`
		Errors  []queryError  `json:"errors"`
		Reads   *queryReads   `json:"reads,omitempty"`
		Explain *graphExplain `json:"explain,omitempty"`
	}
	tryRuleOut struct {
		Violating     int           `json:"violating"`
		Unknown       int           `json:"unknown"`
		Passing       int           `json:"passing"`
		NotApplicable int           `json:"notApplicable"`
		Results       []triedEntity `json:"results"`
		Reads         queryReads    `json:"reads"`
		Cost          triedCost     `json:"cost"`
		Explain       *graphExplain `json:"explain,omitempty"`
		Unread        []unread      `json:"unread"` // scopes of its types that could not be read
	}
)

// tryRule evaluates a query as a rule without storing anything.
func (a *API) tryRule(ctx context.Context, in tryRuleIn) (tryRuleOut, error) {
	org, account := a.Org(ctx), posture.AccountID(in.PartitionKey)
	// Check access to the account before the query is parsed.
	if _, err := a.Store.Account(ctx, org, account); err != nil {
		return tryRuleOut{}, err
	}
	q, err := a.bind(ctx, in.boundQuery)
	if err != nil {
		return tryRuleOut{}, err
	}
	start := a.Now()
	leave, err := a.Walker.Admit(ctx, org, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return tryRuleOut{}, err
	}
	defer leave()
	waited := a.Now().Sub(start)
	t, err := a.Judge.Try(ctx, org, account, q)
	if err != nil {
		return tryRuleOut{}, err
	}
	out := tryRuleOut{
		Violating: len(t.Violating), Unknown: len(t.Unknown), Passing: t.Passing, NotApplicable: t.NotApplicable, Results: []triedEntity{},
		Reads: readsOf(t.Reads),
		Cost: triedCost{
			Traversers: t.Work, Generation: t.Generation, WaitedMs: float64(waited.Microseconds()) / 1000, RanMs: float64(t.Took.Microseconds()) / 1000,
		},
	}
	out.add(t, "Violation", t.Violating)
	out.add(t, "Unknown", t.Unknown)
	if t.Explain != nil {
		out.Explain = explainOf(t.Explain)
	}
	out.Unread, err = a.unreadOf(ctx, account, t.Reads.Types)
	return out, err
}

func readsOf(s judge.ReadSet) queryReads {
	return queryReads{texts(s.Types), texts(s.Subjects), texts(s.Properties), texts(s.Edges), s.Clock, texts(s.Undeclared)}
}

// checkRule compiles a query without running it.
func (a *API) checkRule(ctx context.Context, in boundQuery) (checkRuleOut, error) {
	out := checkRuleOut{Errors: []queryError{}}
	q, err := a.bind(ctx, in)
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotFound) {
		return out, err // not an error in the query
	}
	if err == nil {
		var readSet judge.ReadSet
		var plan *gremlin.Explanation
		readSet, plan, err = a.Judge.Evaluator.Explain(q)
		if err == nil {
			reads := readsOf(readSet)
			out.Valid, out.Reads = true, &reads
			if plan != nil {
				out.Explain = explainOf(plan)
			}
			return out, nil
		}
	}
	d := queryfault.Detail("query", err.Error(), err)
	if f, ok := errors.AsType[*fault.Error](err); ok && len(f.Details) > 0 {
		d = f.Details[0]
	}
	out.Errors = append(out.Errors, queryError{d.Message, d.Line, d.Column, d.EndColumn, d.Hint})
	return out, nil
}

// add adds the trial's entities with the given ids.
func (out *tryRuleOut) add(t judge.Trial, verdict string, ids []posture.EntityID) {
	for _, id := range ids[:min(len(ids), judge.Shown)] {
		if e, ok := t.Entities[id]; ok {
			out.Results = append(out.Results, triedEntity{verdict, entityOf(e)})
		}
	}
}

// bind parses a query and binds its variables to the parameters of a rule.
func (a *API) bind(ctx context.Context, in boundQuery) (posture.RuleQuery, error) {
	q, err := parseQuery(in.Query)
	if err != nil || in.RuleID == "" {
		return q, err
	}
	r, err := a.Book.Rule(ctx, a.Org(ctx), posture.RuleID(in.RuleID))
	if err != nil {
		return q, err
	}
	if r, err = r.WithValues(in.ParameterValues); err != nil {
		return q, err
	}
	q.Bound = r.Bind().Query.Bound
	return q, nil
}

// parseQuery parses the JSON query of a rule, or plain Gremlin.
func parseQuery(text string) (posture.RuleQuery, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return posture.RuleQuery{}, fault.Field("query", "must not be empty")
	case strings.HasPrefix(text, "{"):
		return readQuery("query", text)
	}
	return posture.RuleQuery{Language: posture.GraphQuery, Text: text}, nil
}

func texts[T ~string](values []T) []string {
	return httpapi.Each(values, func(v T) string { return string(v) })
}
