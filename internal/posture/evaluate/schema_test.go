package evaluate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
)

func TestReadFollowsAQueryThroughTheSchema(t *testing.T) {
	t.Parallel()
	kinds := func(ts ...posture.EntityType) []posture.EntityType { return ts }
	allTypes := kinds(rangeType, hostType, groupType, roleType, keyType, bucketType)
	for text, want := range map[string]evaluate.Reads{
		`g.V().hasLabel('AWS.S3.Bucket').has('public', true)`: {Types: kinds(bucketType), Subjects: kinds(bucketType)},
		`g.V().has('public', true).hasLabel('AWS.S3.Bucket')`: {Types: kinds(bucketType), Subjects: kinds(bucketType)},
		`g.V().has('AWS.S3.Bucket', 'public', true)`:          {Types: kinds(bucketType), Subjects: kinds(bucketType)},
		`g.V().hasLabel('AWS.EC2.SecurityGroup').where(outE('ALLOWS_INGRESS').has('fromPort', 1).inV().has('isInternet', true))`: {
			Types: kinds(rangeType, groupType), Subjects: kinds(groupType)},
		`g.V().hasLabel('AWS.EC2.SecurityGroup').not(__.in('MEMBER_OF'))`: {Types: kinds(hostType, groupType), Subjects: kinds(groupType)},
		`g.V().hasLabel('AWS.EC2.Instance').out('HAS_ROLE').out('READS')`: {Types: kinds(hostType, roleType, bucketType), Subjects: kinds(bucketType)},
		`g.V().hasLabel('AWS.EC2.Instance').repeat(out()).times(3)`: {
			Types: kinds(rangeType, hostType, groupType, roleType, keyType, bucketType), Subjects: allTypes},
		`g.V().hasLabel('AWS.EC2.Instance').as('h').out('MEMBER_OF').has('groupName', 'web').select('h')`: {
			Types: kinds(hostType, groupType), Subjects: kinds(hostType)},
		`g.V().hasLabel('AWS.EC2.Instance').or(has('state', 'x'), out('HAS_ROLE').has('inlineAllowsAdmin', true))`: {
			Types: kinds(hostType, roleType), Subjects: kinds(hostType)},
		`g.V().hasLabel('AWS.EC2.Instance').where(has('state', 'x').or().out('HAS_ROLE'))`: {Types: kinds(hostType, roleType), Subjects: kinds(hostType)},
		`g.V().hasLabel('AWS.EC2.Instance').out('MEMBER_OF').hasLabel('AWS.EC2.SecurityGroup').in('MEMBER_OF')`: {
			Types: kinds(hostType, groupType), Subjects: kinds(hostType)},
		`g.V()`:                           {Types: allTypes, Subjects: allTypes},
		`g.V().has(kind, 'public', true)`: {Types: allTypes, Subjects: allTypes}, // the label is a variable
		`g.V().hasLabel('AWS.EC2.Instance').to(OUT, 'MEMBER_OF')`:         {Types: kinds(hostType, groupType), Subjects: kinds(groupType)},
		`g.V().hasLabel('AWS.EC2.SecurityGroup').to(IN, 'MEMBER_OF')`:     {Types: kinds(hostType, groupType), Subjects: kinds(hostType)},
		`g.V().hasLabel('AWS.EC2.Instance').toE(OUT, 'HAS_ROLE').toV(IN)`: {Types: kinds(hostType, roleType), Subjects: kinds(roleType)},
		`g.V().hasLabel('AWS.EC2.SecurityGroup').not(inE('MEMBER_OF'))`:   {Types: kinds(hostType, groupType), Subjects: kinds(groupType)},
		`g.V().hasLabel('AWS.EC2.Instance').not(outE('HAS_ROLE'))`:        {Types: kinds(hostType, roleType), Subjects: kinds(hostType)},
		`g.V().hasLabel('AWS.EC2.Instance').union(outE('MEMBER_OF'), outE('HAS_ROLE')).inV()`: {
			Types: kinds(hostType, groupType, roleType), Subjects: kinds(groupType, roleType)},
		`g.V().hasLabel('AWS.EC2.Instance').choose(has('state', 'x'), out('HAS_ROLE'))`: {
			Types: kinds(hostType, roleType), Subjects: kinds(hostType, roleType)},
		`g.V().hasLabel('AWS.EC2.Instance').choose(values('state')).option('x', out('HAS_ROLE')).option(none, out('MEMBER_OF'))`: {
			Types: kinds(hostType, groupType, roleType), Subjects: kinds(hostType, groupType, roleType)},
		`g.V().hasLabel('AWS.EC2.Instance').as('h').out('MEMBER_OF').where(__.as('h').out('HAS_ROLE'))`: {
			Types: kinds(hostType, groupType, roleType), Subjects: kinds(groupType)},
		`g.V().hasLabel('AWS.EC2.Instance').until(out('READS')).repeat(out('HAS_ROLE'))`: {
			Types: kinds(hostType, roleType, bucketType), Subjects: kinds(hostType, roleType)},
		`g.V().hasLabel('AWS.S3.Bucket').properties().element()`:                                      {Types: allTypes, Subjects: allTypes},
		`g.V().hasLabel('AWS.S3.Bucket').fold().unfold()`:                                             {Types: allTypes, Subjects: allTypes},
		`g.V().hasLabel('AWS.S3.Bucket').as('a').out('ENCRYPTED_BY').as('b').select('a', 'b')`:        {Types: allTypes, Subjects: allTypes},
		`g.withStrategies(SubgraphStrategy(vertices: __.out('READS'))).V().hasLabel('AWS.S3.Bucket')`: {Types: allTypes, Subjects: kinds(bucketType)},
		`g.V().hasLabel('AWS.EC2.Instance').where(values('launchTime').asDate().is(lt(datetime())))`: {
			Types: kinds(hostType), Subjects: kinds(hostType), Clock: true},
		`g.V().hasLabel('AWS.S3.Buckett')`: {Undeclared: []string{"type AWS.S3.Buckett"}},
		`g.V().hasLabel('AWS.S3.Bucket').has('pubic', true)`: {
			Types: kinds(bucketType), Subjects: kinds(bucketType), Undeclared: []string{"property pubic of [AWS.S3.Bucket]"}},
		`g.V().hasLabel('AWS.S3.Bucket').where(out('MEMBER_OF'))`: {
			Types: kinds(bucketType), Subjects: kinds(bucketType), Undeclared: []string{"edge MEMBER_OF at [AWS.S3.Bucket]"}},
		`g.V().hasLabel('AWS.S3.Bucket').has('region', 'x').has('tag.env', 'prod')`: {Types: kinds(bucketType), Subjects: kinds(bucketType)},
	} {
		got, err := schema.Read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(evaluate.Reads{}), cmpopts.SortSlices(func(a, b posture.EntityType) bool { return a < b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if _, err := schema.Read(`g.V(`); err == nil {
		t.Error("a malformed query is not refused")
	}
}
