package main

// A query is measured on one kind of graph.
type query struct {
	name string
	text string
	loop string // name of an equivalent hand-written loop, if any
}

// gratefulQueries are the standard queries on the grateful-dead graph, and three
// with paths and local folds.
var gratefulQueries = []query{
	{name: "out-out", text: `g.V().out().out().count()`},
	{name: "out-out-out", text: `g.V().out().out().out().count()`},
	{name: "both-both-both", text: `g.V().both().both().both().count()`},
	{name: "repeat-out-10", text: `g.V().repeat(__.out()).times(10).count()`},
	{name: "paths-by-name", text: `g.V().hasLabel('artist').in('writtenBy').out('followedBy').path().by('name').dedup().count()`},
	{name: "local-fold", text: `g.V().hasLabel('song').local(__.out('followedBy').values('name').fold()).count(local).sum()`},
	{name: "top-songs-fold", text: `g.V().hasLabel('song').order().by(__.out('followedBy').count(), desc).by('name').limit(20).local(__.in('followedBy').values('name').order().fold())`},
}

// securityQueries are typical queries of rules on a cloud account.
var securityQueries = []query{
	{name: "bucket-public", text: `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`},
	{name: "bucket-plain", text: `g.V().hasLabel('AWS.S3.Bucket').has('encryption', 'none').values('name')`},
	{name: "bucket-unversioned", text: `g.V().hasLabel('AWS.S3.Bucket').not(__.has('versioning', 'Enabled')).count()`},
	{name: "volume-plain", text: `g.V().hasLabel('AWS.EC2.Volume').has('encrypted', false).count()`, loop: "volume-plain"},
	{name: "volume-plain-running", text: `g.V().hasLabel('AWS.EC2.Volume').has('encrypted', false).in('volume').has('state', 'running').dedup().count()`, loop: "volume-plain-running"},
	{name: "instance-exposed", text: `g.V().hasLabel('AWS.EC2.Instance').has('publicIp').where(__.out('securityGroup').out('rule').has('direction', 'ingress').has('cidr', '0.0.0.0/0')).count()`, loop: "instance-exposed"},
	{name: "ssh-open", text: `g.V().hasLabel('AWS.EC2.SecurityGroup').where(__.out('rule').has('cidr', '0.0.0.0/0').has('fromPort', lte(22)).has('toPort', gte(22))).values('name')`},
	{name: "rdp-open", text: `g.V().hasLabel('AWS.EC2.SecurityGroup').where(__.out('rule').has('cidr', '0.0.0.0/0').has('fromPort', lte(3389)).has('toPort', gte(3389))).in('securityGroup').dedup().count()`},
	{name: "group-unused", text: `g.V().hasLabel('AWS.EC2.SecurityGroup').not(__.in('securityGroup')).count()`},
	{name: "group-default-rules", text: `g.V().has('AWS.EC2.SecurityGroup', 'name', 'default').where(__.out('rule').count().is(gt(0))).count()`},
	{name: "role-admin", text: `g.V().hasLabel('AWS.IAM.Role').where(__.out('policy').has('name', 'AdministratorAccess')).values('name')`},
	{name: "instance-admin", text: `g.V().hasLabel('AWS.EC2.Instance').where(__.out('role').out('policy').has('admin', true)).count()`, loop: "instance-admin"},
	{name: "admin-paths", text: `g.V().hasLabel('AWS.EC2.Instance').has('publicIp').out('role').out('policy').has('admin', true).path().by('name')`},
	{name: "user-no-mfa", text: `g.V().hasLabel('AWS.IAM.User').has('mfa', false).has('consoleAccess', true)`},
	{name: "user-old-key", text: `g.V().hasLabel('AWS.IAM.User').has('keys', gt(0)).has('keyAgeDays', gt(90)).count()`},
	{name: "user-own-policy", text: `g.V().hasLabel('AWS.IAM.User').where(__.out('policy')).values('name')`},
	{name: "key-unrotated", text: `g.V().hasLabel('AWS.KMS.Key').has('rotation', false).where(__.in('key').hasLabel('AWS.S3.Bucket')).count()`},
	{name: "key-unused", text: `g.V().hasLabel('AWS.KMS.Key').not(__.in('key')).count()`},
	{name: "count-by-type", text: `g.V().groupCount().by(label)`},
	{name: "count-by-size", text: `g.V().hasLabel('AWS.EC2.Instance').groupCount().by('instanceType')`, loop: "count-by-size"},
	{name: "count-by-zone", text: `g.V().hasLabel('AWS.EC2.Instance').groupCount().by(__.out('subnet').values('zone'))`},
	{name: "key-blast", text: `g.V().hasLabel('AWS.KMS.Key').order().by(__.in('key').count(), desc).by('name').limit(10).values('name')`},
	{name: "group-members", text: `g.V().hasLabel('AWS.EC2.SecurityGroup').project('id', 'n').by(id).by(__.in('securityGroup').count()).order().by(select('n'), desc).by(select('id')).limit(10)`},
	{name: "snapshot-public", text: `g.V().hasLabel('AWS.EC2.Snapshot').has('public', true).count()`},
	{name: "snapshot-plain-source", text: `g.V().hasLabel('AWS.EC2.Snapshot').where(__.out('source').has('encrypted', false)).count()`},
	{name: "volume-orphan", text: `g.V().hasLabel('AWS.EC2.Volume').not(__.in('volume')).count()`},
	{name: "instance-no-owner", text: `g.V().hasLabel('AWS.EC2.Instance').hasNot('tag.Owner').count()`},
	{name: "prod-by-type", text: `g.V().has('tag.Environment', 'prod').groupCount().by(label)`},
	{name: "one-instance", text: `g.V().has('AWS.EC2.Instance', 'name', 'instance-77').out('securityGroup').out('rule').dedup().count()`},
	{name: "trust-chains", text: `g.V().hasLabel('AWS.IAM.Role').has('external', true).repeat(__.out('trusts').simplePath()).times(3).emit().path().count()`},
	{name: "user-to-admin", text: `g.V().hasLabel('AWS.IAM.User').out('assume').repeat(__.out('trusts')).emit().times(3).where(__.out('policy').has('admin', true)).dedup().count()`},
	{name: "internet-to-bucket", text: `g.V().hasLabel('AWS.ELB.LoadBalancer').has('scheme', 'internet-facing').out('target').out('role').out('policy').out('grants').hasLabel('AWS.S3.Bucket').dedup().count()`},
	{name: "function-old-runtime", text: `g.V().hasLabel('AWS.Lambda.Function').has('runtime', within('python2.7', 'python3.6', 'nodejs12.x')).values('name')`},
	{name: "function-public-subnet", text: `g.V().hasLabel('AWS.Lambda.Function').where(__.out('subnet').has('mapPublicIp', true)).count()`},
	{name: "database-exposed", text: `g.V().hasLabel('AWS.RDS.DBInstance').and(__.has('public', true), __.has('encrypted', false)).valueMap('name', 'engine')`},
	{name: "database-weak", text: `g.V().hasLabel('AWS.RDS.DBInstance').or(__.has('encrypted', false), __.has('backupRetention', lt(7))).count()`},
	{name: "vpc-sizes", text: `g.V().hasLabel('AWS.EC2.VPC').map(__.in('vpc').in('subnet').dedup().count()).max()`},
	{name: "role-by-prefix", text: `g.V().hasLabel('AWS.IAM.Role').has('name', startingWith('svc-pay')).count()`},
	{name: "bucket-by-part", text: `g.V().hasLabel('AWS.S3.Bucket').has('name', containing('-logs-')).count()`},
	{name: "account-size", text: `g.V().hasLabel('AWS.Account').in('account').has('region', 'eu-west-1').count()`},
}
