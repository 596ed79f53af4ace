package syntax

import (
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	within := "g.V().has(\"id\", within(" + strings.Repeat(`"i-0123456789abcdef0", `, 900) + `"x"))`
	for name, text := range map[string]string{
		"short": `g.V().hasLabel("person").out("knows").values("name")`,
		"rule": `g.V().hasLabel("aws_s3_bucket").has("encrypted", false).
			where(__.not(__.out("has_policy").has("effect", within("Deny", "None")))).
			project("id", "name").by(T.id).by(coalesce(values("name"), constant("")))`,
		"within": within,
	} {
		b.Run(name, func(b *testing.B) {
			o := Options{Limits: Limits{Length: 1 << 20}}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
