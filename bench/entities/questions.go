package main

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A question is a query in two forms: a request to the API, and hand-written SQL for the
// plain table.
type question struct {
	name   string
	method string
	path   string
	body   string

	where   string // condition of the hand-written SQL, starting with AND
	join    string // further tables of the SQL, starting with a comma
	args    []any  // values of the parameters $1, $2 and so on of the condition
	groups  string // columns to count by
	columns int    // number of columns in groups
	single  bool   // one record, not a page
}

func (q question) from() string {
	return "plain_entity e" + q.join + " WHERE org = 'bench'" + q.where
}

// groupBy returns the list for GROUP BY. It consists of column numbers, which both
// databases accept instead of expressions.
func (q question) groupBy() string {
	var all []string
	for i := range q.columns {
		all = append(all, strconv.Itoa(i+1))
	}
	return strings.Join(all, ", ")
}

// allQuestions returns the queries, with values of generated entities in their filters.
func (b *bench) allQuestions() []question {
	if b.cachedQuestions != nil {
		return b.cachedQuestions
	}
	var vm, bucket posture.Entity
	for _, e := range b.sample(2000) {
		switch e.Type {
		case "AWS.EC2.Instance", "GCP.Compute.Instance", "Azure.Compute.VirtualMachine":
			vm = e
		case "AWS.S3.Bucket", "GCP.Storage.Bucket", "Azure.Storage.StorageAccount":
			bucket = e
		}
	}
	account, typ, region := string(vm.Account), string(vm.Type), vm.Region
	tag := func(name, value string) string {
		if b.db.Dialect() == sqldb.Postgres {
			return ` AND tags @> '` + toJSON(map[string]string{name: value}) + `'`
		}
		return ` AND json_extract(tags, '$."` + name + `"') = '` + value + `'`
	}
	const rareProperty = "privateIpAddress"
	rareValue := "none"
	if values := (posture.Attribute{Kind: posture.PropertyAttribute, Name: rareProperty}).Values(&vm); len(values) > 0 {
		rareValue = values[0]
	}
	b.cachedQuestions = []question{
		page("first page of all", `{}`, ""),
		page("one type", `{"entityTypes":[`+quote(typ)+`]}`, " AND type = $1", typ),
		page("one region", `{"regions":[`+quote(region)+`]}`, " AND region = $1", region),
		page("one provider", `{"providers":["azure"]}`, " AND provider = 'azure'"),
		page("one service", `{"services":[`+quote(vm.Service)+`]}`, " AND service = $1", vm.Service),
		page("one account", `{"cloudAccountIds":[`+quote(account)+`]}`, " AND account = $1", account),
		page("account, type and region", `{"cloudAccountIds":[`+quote(account)+`],"entityTypes":[`+quote(typ)+`],"regions":[`+quote(region)+`]}`,
			" AND account = $1 AND type = $2 AND region = $3", account, typ, region),
		page("one name", `{"entityNames":[`+quote(vm.Name)+`]}`, " AND lower(name) = $1", strings.ToLower(vm.Name)),
		page("beginning of a name", `{"nameSearch":`+quote(vm.Name[:len(vm.Name)-4])+`}`, " AND lower(name) LIKE $1", strings.ToLower(vm.Name[:len(vm.Name)-4])+"%"),
		page("a rare value", search(`property.`+rareProperty+` = "`+rareValue+`"`), b.hasProperty(rareProperty, "stringV", rareValue)),
		page("a property in an account", `{"cloudAccountIds":[`+quote(account)+`],"query":"property.encrypted = false"}`,
			" AND account = $1"+b.hasProperty("encrypted", "boolV", false), account),
		page("a frequent tag", search(`tag.env = prod`), tag("env", "prod")),
		page("two frequent terms", search(`tag.env = prod AND property.encrypted = true`), tag("env", "prod")+b.hasProperty("encrypted", "boolV", true)),
		page("type and property", `{"entityTypes":[`+quote(string(bucket.Type))+`],"query":"tag.team = team-3"}`, " AND type = $1"+tag("team", "team-3"), string(bucket.Type)),
		{name: "one entity", method: "GET", path: "/v1/entities/" + url.PathEscape(string(vm.ID)), where: " AND id = $1", args: []any{string(vm.ID)}, single: true},
		terms("count by type", `{}`, "", "type", 1, "entityType"),
		terms("count by account", `{}`, "", "account", 1, "cloudAccountId"),
		terms("count by provider, service, type, region", `{}`, "", "provider, service, type, region", 4, "provider", "service", "entityType", "region"),
		terms("count by type in an account", `{"cloudAccountIds":[`+quote(account)+`]}`, " AND account = $1", "type", 1, "entityType").withArgs(account),
		terms("count by type where a tag is", search(`tag.env = prod`), tag("env", "prod"), "type", 1, "entityType"),
		b.tagTerms("count by a tag in an account", `{"cloudAccountIds":[`+quote(account)+`]}`, " AND account = $1").withArgs(account),
		b.tagTerms("count by a tag", `{}`, ""),
		b.tagTerms("count by a tag where a property is", search(`property.encrypted = false`), b.hasProperty("encrypted", "boolV", false)),
		b.tagTerms("count by type and a tag", `{}`, "", "entityType"),
		b.propertyTerms("count by a property", "encrypted", "boolV"),
	}
	return b.cachedQuestions
}

func quote(s string) string { return strconv.Quote(s) }

func search(text string) string { return `{"query":` + strconv.Quote(text) + `}` }

func page(name, filters, where string, args ...any) question {
	return question{name: name, method: "POST", path: "/v1/entities/query", body: `{"filters":` + filters + `}`, where: where, args: args}
}

// terms returns a query that counts entities by fields, nested in this order. groups
// lists the columns of the plain table that correspond to the fields.
func terms(name, filters, where, groups string, columns int, fields ...string) question {
	body := ""
	for i := len(fields) - 1; i >= 0; i-- {
		sub := ""
		if body != "" {
			sub = `,"subAggregations":` + body
		}
		body = `{"a":{"fieldName":` + quote(fields[i]) + `,"aggregationType":"Terms"` + sub + `}}`
	}
	return question{
		name: name, method: "POST", path: "/v1/entities/aggregations-query", body: `{"filters":` + filters + `,"aggregations":` + body + `}`,
		where: where, groups: groups, columns: columns,
	}
}

// withArgs returns the query with arguments for the parameters of its condition.
func (q question) withArgs(args ...any) question {
	q.args = args
	return q
}

// tagTerms returns a query that counts by the tag team, or, if fields is entityType, by
// entity type and then by the tag. No other fields are supported.
func (b *bench) tagTerms(name, filters, where string, fields ...string) question {
	column := `json_extract(tags, '$.team')`
	if b.db.Dialect() == sqldb.Postgres {
		column = `tags ->> 'team'`
	}
	groups := column
	if len(fields) > 0 {
		groups = "type, " + column
	}
	return terms(name, filters, where+" AND "+column+" IS NOT NULL", groups, len(fields)+1, append(fields, "tag.team")...)
}

// propertyTerms returns a query that counts by a property. member is the JSON member that
// holds values of its type, such as boolV.
func (b *bench) propertyTerms(name, property, member string) question {
	elements, nameColumn, valueColumn := ", json_each(e.properties) p", `json_extract(p.value, '$.name')`, `json_extract(p.value, '$.`+member+`')`
	if b.db.Dialect() == sqldb.Postgres {
		elements, nameColumn, valueColumn = ", jsonb_array_elements(e.properties) p", `p ->> 'name'`, `p ->> '`+member+`'`
	}
	q := terms(name, `{}`, ` AND `+nameColumn+` = '`+property+`' AND `+valueColumn+` IS NOT NULL`, valueColumn, 1, "property."+property)
	q.join = elements
	return q
}

// hasProperty returns the SQL condition that a property has a value. member is the JSON
// member that holds values of its type, such as boolV.
func (b *bench) hasProperty(name, member string, value any) string {
	if b.db.Dialect() == sqldb.Postgres {
		return ` AND properties @> '` + toJSON([]map[string]any{{"name": name, member: value}}) + `'`
	}
	text := toJSON(value)
	if s, ok := value.(string); ok {
		text = "'" + s + "'"
	}
	return ` AND EXISTS (SELECT 1 FROM json_each(e.properties) p
		WHERE json_extract(p.value, '$.name') = '` + name + `' AND json_extract(p.value, '$.` + member + `') = ` + text + `)`
}

// compareQuestions runs all queries through the API and as hand-written SQL, and prints
// both times and their ratio.
func (b *bench) compareQuestions(ctx context.Context) error {
	printf("%-42s %10s %10s %7s %10s %10s %7s", "question", "API", "by hand", "ratio", "API CPU", "hand CPU", "ratio")
	worst := [2]float64{}
	for _, q := range b.allQuestions() {
		if !strings.Contains(q.name, b.o.queries) {
			continue
		}
		api, hand, err := b.measureBoth(q)
		if err != nil {
			return err
		}
		b.costs[q.name] = api
		clock, cpu := ratio(api.wall, hand.wall), ratio(api.cpu, hand.cpu)
		worst[0], worst[1] = max(worst[0], clock), max(worst[1], cpu)
		mark := " "
		if hand.wall >= b.o.patience {
			mark = "<" // timed out: the ratio is below the printed one
		}
		printf("%-42s %10s %10s %s%6.2f %10s %10s %s%6.2f", q.name, short(api.wall), short(hand.wall), mark, clock, short(api.cpu), short(hand.cpu), mark, cpu)
	}
	note := ""
	if b.db.Dialect() == sqldb.Postgres {
		note = " of this process, without the database server"
	}
	printf("worst ratio %.2f of wall-clock time, %.2f of CPU time%s (target 1.50)\n", worst[0], worst[1], note)
	return ctx.Err()
}

// measureBoth runs a query through the API and as hand-written SQL. The first runs warm
// the caches, and their results are compared. If the first run of the SQL takes longer
// than maxDuration, the first runs are also the measurement.
func (b *bench) measureBoth(q question) (api, hand cost, err error) {
	askAPI := func() error {
		_, err := b.send(q.method, q.path, q.body)
		return err
	}
	byHand := func() error {
		_, err := b.send("POST", "/plain/"+url.PathEscape(q.name), "{}")
		return err
	}
	var answers [2]string
	if api, err = measure(func() (err error) {
		answers[0], err = b.send(q.method, q.path, q.body)
		return err
	}); err != nil {
		return api, hand, err
	}
	hand, err = measure(func() (err error) {
		answers[1], err = b.send("POST", "/plain/"+url.PathEscape(q.name), "{}")
		return err
	})
	if hand.wall >= b.o.patience { // it timed out
		api, err = median(3, askAPI)
		return api, hand, err
	}
	if err == nil {
		err = checkEqualResults(q, answers[0], answers[1])
	}
	if err != nil || hand.wall > maxDuration {
		return api, hand, err
	}
	return inTurn(b.o.rounds, askAPI, byHand)
}

// short formats a duration with at most four digits.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for unit*10_000 < d {
		unit *= 10
	}
	return d.Round(unit).String()
}
