package gremlin_test

import (
	"testing"

	"vigil/gremlin"
)

// securityQueries are typical queries about the security of an account.
var securityQueries = []string{
	`g.V().hasLabel("S3.Bucket").has("public", true).values("entityName")`,
	`g.V().hasLabel("S3.Bucket").has("public", true).not(out("ENCRYPTED_BY")).count()`,
	`g.V().hasLabel("EC2.Instance").has("public", true).where(out("MEMBER_OF").out("ALLOWS_INGRESS").has("port", 22).has("cidr", "0.0.0.0/0")).values("entityName")`,
	`g.V().hasLabel("EC2.Instance").not(out("MEMBER_OF").out("ALLOWS_INGRESS").has("cidr", "0.0.0.0/0")).count()`,
	`g.V().hasLabel("EC2.Volume").has("encrypted", false).out("ATTACHED_TO").has("tag.env", "prod").dedup().count()`,
	`g.V().groupCount().by(label)`,
	`g.V().hasLabel("EC2.Instance").groupCount().by("region")`,
	`g.V().has("region", "eu-west-1").count()`,
	`g.V().hasLabel("EC2.Instance").has("cpu", gt(90.0)).values("entityName")`,
	`g.V().hasLabel("EC2.Instance").order().by("cpu", desc).limit(10).values("entityName")`,
	`g.V().hasLabel("IAM.Role").has("admin", true).in("HAS_ROLE").has("public", true).path().by("entityName").limit(1000)`,
	`g.V().hasLabel("IAM.Role").repeat(out("CAN_ASSUME")).times(3).has("admin", true).dedup().count()`,
	`g.V().hasLabel("EC2.Instance").has("public", true).out("HAS_ROLE").out("CAN_READ").has("public", false).dedup().values("entityName")`,
	`g.V().hasLabel("EC2.SecurityGroup").where(__.in("MEMBER_OF").count().is(gt(10))).count()`,
	`g.V().hasLabel("EC2.SecurityGroup").project("name", "members").by("entityName").by(__.in("MEMBER_OF").count())`,
	`g.V().hasLabel("EC2.Instance").group().by("tag.env").by(out("MEMBER_OF").count())`,
	`g.V().out().out().out().count()`,
	`g.V().hasLabel("EC2.Instance").has("entityName", "EC2.Instance-77").out().values("entityName")`,
	`g.V().hasLabel("EC2.Instance").has("entityName", startingWith("EC2.Instance-12")).count()`,
	`g.V().hasLabel("EC2.Instance").valueMap("entityName", "region").limit(100)`,
	`g.V().hasLabel("KMS.Key").local(__.in("ENCRYPTED_BY").values("entityName").fold())`,
}

func BenchmarkSecurity(b *testing.B) {
	g := account(b, 50_000)
	for _, text := range securityQueries {
		b.Run(text, func(b *testing.B) {
			p, err := gremlin.Compile(text, gremlin.CompileOptions{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(b.Context(), g, gremlin.RunOptions{Budget: gremlin.Unlimited}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
