package judge_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/judge"
	"vigil/internal/posture/rulebook"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

const (
	hostType  posture.EntityType = "AWS.EC2.Instance"
	groupType posture.EntityType = "AWS.EC2.SecurityGroup"
	rangeType posture.EntityType = "AWS.EC2.CidrRange"
	account   posture.AccountID  = "123456789012"
)

var (
	begin   = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	kinds   = []posture.EntityType{hostType, groupType, rangeType}
	regions = []string{"eu-west-1", "us-east-1"}
)

// schema is a small part of AWS.
var schema = evaluate.NewSchema([]evaluate.Kind{
	{Type: hostType, Exposed: []evaluate.Fact{{Property: "publicIpAddress", Why: "has a public address"}}, Properties: []string{"publicIpAddress", "launchTime", "monitored"}, Edges: []evaluate.Link{{Label: "MEMBER_OF", To: []posture.EntityType{groupType}}}},
	{Type: groupType, Edges: []evaluate.Link{{Label: "ALLOWS_INGRESS", To: []posture.EntityType{rangeType}}}},
	{Type: rangeType, Properties: []string{"isInternet"}, Exposed: []evaluate.Fact{{Property: "isInternet", Why: "is the whole internet"}}},
})

// texts are the queries of the rules: properties, edges, absence and time.
var texts = []string{
	`g.V().hasLabel('AWS.EC2.CidrRange').has('isInternet', true)`,
	`g.V().hasLabel('AWS.EC2.Instance').not(has('monitored', true))`,
	`g.V().hasLabel('AWS.EC2.SecurityGroup').where(out('ALLOWS_INGRESS').has('isInternet', true))`,
	`g.V().hasLabel('AWS.EC2.Instance').has('publicIpAddress').where(out('MEMBER_OF').out('ALLOWS_INGRESS').has('isInternet', true))`,
	`g.V().hasLabel('AWS.EC2.SecurityGroup').not(__.in('MEMBER_OF'))`,
	`g.V().hasLabel('AWS.EC2.Instance').where(values('launchTime').asDate().dateAdd(DT.day, 30).is(lt(datetime())))`,
}

// newRule returns the first version of the rule "rule-n", whose query is texts[n].
func newRule(id posture.RuleID) posture.Rule {
	var n int
	_, _ = fmt.Sscanf(string(id), "rule-%d", &n)
	return posture.Rule{
		ID: id, Name: string(id), Provider: posture.AWS, Level: posture.High, Status: posture.RuleEnabled, Source: posture.Custom,
		Query: posture.RuleQuery{Language: posture.GraphQuery, Text: texts[n]}, ETag: "v", Created: begin, Updated: begin,
	}
}

func entity(kind posture.EntityType, region string, n int) posture.Entity {
	name := fmt.Sprint("x", n)
	return posture.Entity{
		ID: kind.ID(account, region, name), Type: kind, Name: name, XID: "arn:" + name, Account: account, Provider: posture.AWS, Region: region,
		Service: kind.Service(),
	}
}

// A fixture is an organisation with an account and its judges.
type fixture struct {
	t      *testing.T
	org    posture.OrgID
	store  *store.Store
	judges []*judge.Judge
	clock  *time.Time
}

// idle is a job queue that discards jobs: the test executes them itself.
type idle struct{}

func (idle) Validate(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }
func (idle) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error        { return nil }
func (idle) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error    { return nil }
func (idle) Remove(*sqldb.Tx, posture.OrgID, posture.AccountID) error   { return nil }
func (idle) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error   { return nil }

func open(t *testing.T, dsn string) *sqldb.DB {
	t.Helper()
	db := dbtest.Open(t, dsn)
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// newFixture returns an organisation with several judges, which share only the database.
func newFixture(t *testing.T, db *sqldb.DB, org posture.OrgID, judges int, clock *time.Time) *fixture {
	t.Helper()
	f := &fixture{t: t, org: org, store: store.New(db, secrettest.NewBox(t), idle{}).At(func() time.Time { return *clock }), clock: clock}
	now := func() time.Time { return *clock }
	for range judges {
		f.judges = append(f.judges, &judge.Judge{
			Store: f.store, Book: &rulebook.Book{Catalog: &catalog.Catalog{}, Store: f.store, Now: now}, Graphs: graphcache.New(f.store, graphcache.Options{}),
			Evaluator: evaluate.New(schema, f.store, now), Log: slog.New(slog.DiscardHandler), Now: now,
		})
	}
	err := f.store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
		a := posture.Account{ID: account, Provider: posture.AWS, Name: "a", Created: begin}.WithStream(posture.StreamDisconnected, begin)
		return tx.AddAccount(a.WithStatus(posture.AccountActive, "", begin))
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// in returns the scope in the organisation of the fixture.
func (f *fixture) in(s posture.Scope) posture.Scope {
	s.Org = f.org
	return s
}

// state returns the findings and the counts. It omits the ids of findings, which depend on
// the organisation.
func (f *fixture) state() any {
	f.t.Helper()
	page, err := f.store.Findings(f.t.Context(), f.org, posture.FindingFilter{}, nil, posture.Page{}, *f.clock)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := range page.Findings {
		page.Findings[i].ID = ""
	}
	slices.SortFunc(page.Findings, func(a, b posture.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Object, b.Object))
	})
	var ids []posture.RuleID
	for i := range texts {
		ids = append(ids, posture.RuleID(fmt.Sprint("rule-", i)))
	}
	counts, err := f.store.Posture(f.t.Context(), f.org, ids)
	if err != nil {
		f.t.Fatal(err)
	}
	return []any{page.Findings, counts}
}
