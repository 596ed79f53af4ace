package auditapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/audit"
	"vigil/internal/httpapi"
)

func TestRecordOfARequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		e    httpapi.Event
		want audit.Record
	}{
		{
			"a change",
			httpapi.Event{
				RequestID: "r", Operation: "updateUser", Caller: httpapi.Caller{ID: "t", Name: "ana", Org: "o"}, Source: "192.0.2.1", Status: 200,
				Target: map[string]string{"user_id": "u2"}, Notes: map[string]string{"actor": "u1", "changed": "email,name", "extra": "x"},
			},
			audit.Record{
				Request: "r", Operation: "updateUser", Org: "o", Actor: "u1", ActorName: "ana", Token: "t", Source: "192.0.2.1", Status: 200,
				Outcome: audit.Success, Targets: map[string]string{"user_id": "u2", "extra": "x"}, Changed: []string{"email", "name"},
			},
		},
		{"no role", httpapi.Event{Status: 403}, audit.Record{Status: 403, Outcome: audit.Denied}},
		{"no token", httpapi.Event{Status: 401, Target: map[string]string{}}, audit.Record{Status: 401, Outcome: audit.Denied}},
		{
			"a refused login",
			httpapi.Event{Status: 400, Notes: map[string]string{"cause": "it is unknown"}},
			audit.Record{Status: 400, Outcome: audit.Denied, Cause: "it is unknown"},
		},
		{"a mistake", httpapi.Event{Status: 400}, audit.Record{Status: 400, Outcome: audit.Failure}},
		{"our mistake", httpapi.Event{Status: 500}, audit.Record{Status: 500, Outcome: audit.Failure}},
	} {
		if diff := cmp.Diff(tt.want, record(tt.e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
