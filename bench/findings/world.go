package main

import (
	"context"
	"fmt"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// bench is a database with findings.
type bench struct {
	db    *sqldb.DB
	store *store.Store
}

// plainBox seals nothing: nothing here is secret.
type plainBox struct{}

func (plainBox) Seal(_ context.Context, _ secret.Cell, plain []byte) ([]byte, error) {
	return plain, nil
}
func (plainBox) Open(_ context.Context, _ secret.Cell, sealed []byte) ([]byte, error) {
	return sealed, nil
}

func open(ctx context.Context, dsn string) (*bench, error) {
	db, err := sqldb.Open(ctx, dsn, sqldb.Options{WriteTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	return &bench{db, store.New(db, plainBox{}, nil)}, store.Migrate(ctx, db)
}

// The organisations are alike in all but the number of resources: as many
// accounts, rules, services and regions, as people have.
const (
	accounts = 50
	rules    = 160
)

var (
	regions  = []string{"us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-southeast-2", "sa-east-1"}
	services = []string{"EC2", "S3", "IAM", "RDS", "KMS", "Lambda", "EKS", "SNS", "SQS", "CloudTrail"}
	teams    = []string{"payroll", "search", "billing", "web", "data", "mobile", "platform", "audit"}
	now      = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
)

// A world is an organisation, and the place of a page deep in its list.
type world struct {
	org  posture.OrgID
	size int
	deep map[string]string // by question
}

// load raises findings as evaluations do, account by account; a tenth of them is
// resolved again and some are suppressed.
func (b *bench) load(ctx context.Context, size int) (*world, error) {
	w := &world{org: posture.OrgID(fmt.Sprintf("org-%d", size)), size: size, deep: map[string]string{}}
	if there, err := b.store.Findings(ctx, w.org, posture.FindingFilter{}, nil, posture.Page{Size: 1}, now); err != nil || there.Total > 0 {
		return w, err // from an earlier run on the same database
	}
	each := size / accounts
	for a := range accounts {
		account := posture.AccountID(fmt.Sprintf("%012d", 100000000000+a*7919))
		by := map[posture.RuleID][]posture.Raised{}
		for i := range each {
			f := finding(a*each+i, account)
			by[f.Rule] = append(by[f.Rule], posture.Raised{Finding: f, Blob: func() string { return `{"finding":{"id":"` + f.Name + `"}}` }})
		}
		for generation, share := range []int{10, 9} { // of ten
			j := posture.Judgement{Account: account, Generation: int64(generation + 1), RulesAt: posture.AnyRules, At: now.Add(-time.Duration(2-generation) * time.Duration(a+1) * time.Hour)}
			for rule, raised := range by {
				j.Rules = append(j.Rules, posture.RuleJudgement{Rule: rule, Violating: raised[:(len(raised)*share+9)/10]})
			}
			if _, err := b.store.Observe(ctx, w.org, j); err != nil {
				return nil, err
			}
		}
	}
	return w, b.suppress(ctx, w)
}

// suppress puts some findings aside, as many in both organisations.
func (b *bench) suppress(ctx context.Context, w *world) error {
	page, err := b.store.Findings(ctx, w.org, posture.FindingFilter{}, nil, posture.Page{Size: 50}, now)
	if err != nil {
		return err
	}
	for i, f := range page.Findings {
		if i%5 != 0 {
			continue
		}
		if _, err := b.store.Suppress(ctx, w.org, f.ID, &posture.Suppression{By: "ada", Reason: "known", Since: now}, now); err != nil {
			return err
		}
	}
	return nil
}

// finding makes the i-th finding: several rules look at one resource.
func finding(i int, account posture.AccountID) posture.Finding {
	resource := i / 3
	h := uint64(resource)*0x9e3779b97f4a7c15 + 0x1234567
	h ^= h >> 29
	rule := int(h>>8)%(rules/3)*3 + i%3
	service := services[rule%len(services)]
	region := regions[int(h>>20)%len(regions)]
	team := teams[int(h>>32)%len(teams)]
	name := fmt.Sprintf("%s-%s-%07d", team, []string{"archive", "web", "cache", "queue"}[int(h>>40)%4], resource)
	level := []posture.FindingLevel{posture.LevelHigh, posture.LevelMedium, posture.LevelMedium, posture.LevelLow}[rule%4]
	kind := posture.EntityType("AWS." + service + ".Resource")
	return posture.Finding{
		Rule: posture.RuleID(fmt.Sprintf("aws-%s-rule-%03d", service, rule)), Provider: posture.AWS, Object: kind.ID(account, region, name),
		XID: fmt.Sprintf("arn:aws:%s:%s:%s:resource/%s", service, region, account, name), Name: name, Service: service, Region: region, Level: level,
		Risk: posture.Risk{Score: int(h>>16) % 101, Parts: []posture.RiskPart{{Name: "level", Points: 40, Why: "the rule is of level High"}}},
		Tags: map[string]string{"team": team},
	}
}

// settle lets the database learn what it has.
func (b *bench) settle(ctx context.Context) error {
	_, err := b.db.Pool().ExecContext(ctx, "ANALYZE")
	return err
}
