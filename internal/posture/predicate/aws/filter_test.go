package aws_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate/aws"
)

func TestFilterPatterns(t *testing.T) {
	t.Parallel()
	event := gjson.Parse(`{"eventName":"DeleteTrail","eventSource":"cloudtrail.amazonaws.com","errorCode":"Client.UnauthorizedOperation","count":3,
		"readOnly":false,"nothing":null,"userIdentity":{"type":"Root"}}`)
	for _, test := range []struct{ pattern, want string }{
		{``, "yes"},
		{`{ $.eventName = DeleteTrail }`, "yes"},
		{`{$.eventName="DeleteTrail"}`, "yes"},
		{`{ $.eventName = CreateTrail }`, "no"},
		{`{ ($.eventName = CreateTrail) || ($.eventName = DeleteTrail) }`, "yes"},
		{`{ ($.eventName = DeleteTrail) && ($.eventSource = "cloudtrail.amazonaws.com") }`, "yes"},
		{`{ ($.eventName = DeleteTrail) && ($.userIdentity.userName = "ann") }`, "no"},
		{`{ ($.eventName = DeleteTrail) && ($.userIdentity.userName != "ann") }`, "unknown"},
		{`{ ($.eventName = CreateTrail) && ($.userIdentity.userName != "ann") }`, "no"},
		{`{ ($.eventName = Delete*) }`, "yes"},
		{`{ $.errorCode = "*UnauthorizedOperation" }`, "yes"},
		{`{ $.errorCode = "*Unauthorized*" }`, "yes"},
		{`{ $.errorCode = "AccessDenied*" }`, "no"},
		{`{ $.errorCode = "Client.*.x" }`, "no"},
		// && binds tighter than ||.
		{`{ $.eventName = DeleteTrail || $.eventName = x && $.eventName = y }`, "yes"},
		{`{ ($.eventName = DeleteTrail || $.eventName = x) && $.eventName = y }`, "no"},
		{`{ $.userIdentity.type = "Root" && $.userIdentity.invokedBy NOT EXISTS && $.eventType != "AwsServiceEvent" }`, "unknown"},
		{`{ $.userIdentity.type = "Root" && $.userIdentity.invokedBy NOT EXISTS }`, "yes"},
		{`{ $.userIdentity.type NOT EXISTS }`, "no"},
		{`{ $.eventName EXISTS }`, "yes"},
		{`{ $.nothing IS NULL }`, "yes"},
		{`{ $.readOnly IS FALSE }`, "yes"},
		{`{ $.readOnly IS TRUE }`, "no"},
		{`{ $.count = 3 }`, "yes"},
		{`{ $.count = 3.0 }`, "yes"},
		{`{ $.count > 2 }`, "unknown"},
		{`{ $.eventName != "DeleteTrail" }`, "no"},
		{`AccessDenied`, "error"},
		{`[ip, user]`, "error"},
		{`{ $.eventName = %Delete% }`, "error"},
		{`{ $.resources[0].type = x }`, "error"},
		{`{ ($.eventName = x }`, "error"},
		{`{ $.eventName = }`, "error"},
		{`{ $.eventName = "x }`, "error"},
		{`{ $.eventName IS x }`, "error"},
		{`{ eventName = x }`, "error"},
		{`{ $.eventName = x ) }`, "error"},
		{`{ $.eventName & x }`, "error"},
		{`{`, "error"},
	} {
		got := "error"
		if p, err := aws.ParseFilterPattern(test.pattern); err == nil {
			got = p.Matches(event).Truth.String()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.pattern, got, test.want)
		}
	}
}
