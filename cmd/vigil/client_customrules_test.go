package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCustomRuleCommands checks the requests and the output of each command.
func TestCustomRuleCommands(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rule.gremlin")
	if err := os.WriteFile(file, []byte("g.V()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var request, answer string
	call := commandsOn(t, writeSecret(t), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request = strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
		_, _ = io.WriteString(w, answer)
	})
	const tried = `{"violating":1,"passing":2,"unknown":0,"notApplicable":3,"reads":{"notInSchema":["the property colour of AWS.S3.Bucket","the edge paints"]},"results":[{"verdict":"Violation","entity":{"entityName":"logs"}}]}`
	for _, tt := range []struct {
		args          []string
		answer        string
		code          int
		request, want string
	}{
		{
			[]string{"rules", "try", "123", "@" + file}, tried, 0,
			`POST /v1/rules/test {"partitionKey":"123","query":"g.V()"}`, "1 resources violate the rule, 2 pass, 0 are unknown, and it does not apply to 3\nnot in the schema: the property colour of AWS.S3.Bucket\nnot in the schema: the edge paints\n",
		},
		{[]string{"rules", "try", "123", "g.V()"}, tried, 0, `POST /v1/rules/test {"partitionKey":"123","query":"g.V()"}`, "logs"},
		{[]string{"rules", "try", "123", "@" + file + "x"}, tried, exitFailed, "", "no such file"},
		{
			[]string{"rules", "add", "A  Bucket is Open", "--provider", "aws", "--level", "high", "--query", "g.V()", "--control", "cis-aws-5.0_2.1.1"}, `{"id":"r1"}`, 0,
			`POST /v1/rules {"complianceControlIds":["cis-aws-5.0_2.1.1"],"description":"","displayName":"a-bucket-is-open","level":"High","name":"A  Bucket is Open",` +
				`"provider":"aws","query":"{\"inventoryQueryType\":\"graph\",\"queryString\":\"g.V()\"}","suggestedAction":""}`, "rule r1 is added",
		},
		{[]string{"rules", "add", "x", "--provider", "aws"}, ``, exitUsage, "", "--query"},
		{[]string{"rules", "delete", "r1"}, `{"id":"r1"}`, 0, "DELETE /v1/rules/r1", "rule r1 is deleted"},
	} {
		request, answer = "", tt.answer
		code, out := call(tt.args...)
		if code != tt.code || request != tt.request || !strings.Contains(out, tt.want) {
			t.Errorf("%q: exit %d, want %d\nsent %s\nwant %s\nprinted %s\nwant %s", tt.args, code, tt.code, request, tt.request, out, tt.want)
		}
	}
}
