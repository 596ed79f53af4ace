package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// plainBox does not encrypt: there are no secrets here.
type plainBox struct{}

func (plainBox) Seal(_ context.Context, _ secret.Cell, plaintext []byte) ([]byte, error) {
	return plaintext, nil
}
func (plainBox) Open(_ context.Context, _ secret.Cell, sealed []byte) ([]byte, error) {
	return sealed, nil
}

// The databases differ only in the number of resources: the numbers of accounts,
// rules, services and regions are the same.
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

// A world is a database with the findings of one organisation.
type world struct {
	db    *sqldb.DB
	store *store.Store
	size  int
}

const org = posture.OrgID("acme")

// open opens the database for a size. Each size has its own file or schema.
func open(ctx context.Context, database string, size int) (*world, error) {
	dsn := "sqlite://" + filepath.ToSlash(filepath.Join(database, fmt.Sprintf("findings-%d.db", size)))
	if strings.Contains(database, "://") {
		var err error
		if dsn, err = schema(ctx, database, fmt.Sprintf("vigil_findings_%d", size)); err != nil {
			return nil, err
		}
	}
	db, err := sqldb.Open(ctx, dsn, sqldb.Options{WriteTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	return &world{db, store.New(db, plainBox{}, nil), size}, store.Migrate(ctx, db)
}

// schema creates a schema in a PostgreSQL database, if it is missing, and
// returns the URL with the schema.
func schema(ctx context.Context, database, name string) (string, error) {
	dsn, err := dbtest.InSchema(database, name)
	if err != nil {
		return "", err
	}
	db, err := sqldb.Open(ctx, database, sqldb.Options{Connections: 1})
	if err != nil {
		return "", err
	}
	defer db.Close()
	return dsn, db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("CREATE SCHEMA IF NOT EXISTS " + name)
		return err
	})
}

// load raises findings as evaluations do, account by account, resolves a tenth of
// them again and suppresses some. It does nothing if an earlier run has loaded them.
func (w *world) load(ctx context.Context) error {
	if existing, err := w.store.Findings(ctx, org, posture.FindingFilter{}, nil, posture.Page{Size: 1}, now); err != nil || existing.Total > 0 {
		return err
	}
	each := w.size / accounts
	for a := range accounts {
		account := posture.AccountID(fmt.Sprintf("%012d", 100000000000+a*7919))
		byRule := map[posture.RuleID][]posture.Raised{}
		for i := range each {
			f := newFinding(a*each+i, account)
			byRule[f.Rule] = append(byRule[f.Rule], posture.Raised{Finding: f, Blob: func() string { return `{"finding":{"id":"` + f.Name + `"}}` }})
		}
		// The first evaluation raises all findings. The second no longer raises a tenth of
		// them, which are resolved.
		for generation, tenths := range []int{10, 9} {
			j := posture.Judgement{Account: account, Generation: int64(generation + 1), RulesAt: posture.AnyRules, At: now.Add(-time.Duration(2-generation) * time.Duration(a+1) * time.Hour)}
			for rule, raised := range byRule {
				j.Rules = append(j.Rules, posture.RuleJudgement{Rule: rule, Violating: raised[:(len(raised)*tenths+9)/10]})
			}
			if _, err := w.store.Observe(ctx, org, j); err != nil {
				return err
			}
		}
	}
	if err := w.suppress(ctx); err != nil {
		return err
	}
	_, err := w.db.Pool().ExecContext(ctx, "ANALYZE") // update the statistics of the database
	return err
}

// suppress suppresses the same number of findings at both sizes.
func (w *world) suppress(ctx context.Context) error {
	page, err := w.store.Findings(ctx, org, posture.FindingFilter{}, nil, posture.Page{Size: 50}, now)
	if err != nil {
		return err
	}
	for i, f := range page.Findings {
		if i%5 != 0 {
			continue
		}
		if _, err := w.store.Suppress(ctx, org, f.ID, &posture.Suppression{By: "ada", Reason: "known", Since: now}, "ada", now); err != nil {
			return err
		}
	}
	return nil
}

// newFinding returns the i-th finding. Each resource violates three rules.
func newFinding(i int, account posture.AccountID) posture.Finding {
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
