package evaluate

import "testing"

func TestIsMonotonic(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		`g.V().hasLabel('Bucket').has('public', true)`:                                                          true,
		`g.V().hasLabel('Bucket').where(out('LOGS_TO').has('public', true))`:                                    true,
		`g.V().hasLabel('Bucket').where(__.in('READS').or(has('a', 1), out('HAS').hasNot('b')))`:                true,
		`g.V().hasLabel('Bucket').not(has('state', 'gone')).as('about').where(outE('TO').inV().has('open'))`:    true,
		`g.V().hasLabel('Bucket').not(values('zones').count().is(gt(1))).where(out('TO'))`:                      true,
		`g.V().hasLabel('Bucket').union(out('A'), out('B')).dedup()`:                                            true,
		`g.V().hasLabel('Bucket').where(out('TO').values('at').asDate().dateAdd(DT.day, 3).is(lt(datetime())))`: true,
		`g.V().hasLabel('Bucket').as('b').where(out('TO').as('o').where('o', lte('b')).by('port').by('port'))`:  true,
		`g.V().hasLabel('Bucket').dedup().by('name')`:                                                           false,
		`g.V().hasLabel('Bucket').as('b').out('TO').dedup().select('b')`:                                        false,
		`g.V().hasLabel('Bucket').as('b').union(out('TO').dedup()).where(as('b').has('open'))`:                  false,
		`g.V().hasLabel('Bucket').bothE('TO').dedup().otherV()`:                                                 false,
		`g.V().hasLabel('Bucket').as('b').out('TO').dedup('b')`:                                                 false,
		`g.V().hasLabel('Bucket').union(count().is(2), out('A')).V()`:                                           false,
		`g.V().hasLabel('Bucket').where(out('TO').where(values('a').as('x').out('B').count().is(0)))`:           false,
		`g.V().hasLabel('Bucket').not(out('LOGS_TO'))`:                                                          false,
		`g.V().hasLabel('Bucket').where(not(out('LOGS_TO')))`:                                                   false,
		`g.V().hasLabel('Bucket').not(has('a', 1).or(has('b'), where(out('LOGS_TO'))))`:                         false,
		`g.V().hasLabel('Bucket').where(out('LOGS_TO').count().is(lt(2)))`:                                      false,
		`g.V().hasLabel('Bucket').where(out('LOGS_TO').count().is(gt(2)))`:                                      false,
		`g.V().hasLabel('Bucket').where(coalesce(out('A'), out('B')).has('x'))`:                                 false,
		`g.V().hasLabel('Bucket').limit(3)`:                                                                     false,
		`g.V().hasLabel('Bucket').where(repeat(out('A')).until(has('x')).has('y'))`:                             false,
		`g.V().hasLabel('Bucket').optional(out('A'))`:                                                           false,
	} {
		if got := isMonotonic(query); got != want {
			t.Errorf("isMonotonic(%s) = %v, want %v", query, got, want)
		}
	}
}
