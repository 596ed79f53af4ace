package azure

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/naming"
)

// FuzzIDs checks that no id in an event causes harm.
func FuzzIDs(f *testing.F) {
	f.Add("/subscriptions/s/resourceGroups/g/providers/Microsoft.Sql/servers/a/firewallRules/r")
	f.Add("/subscriptions/s/providers/microsoft.insights/diagnosticSettings/d")
	f.Add("//subscriptions/..//%2f")
	f.Fuzz(func(t *testing.T, id string) {
		for _, typ := range declared.Catalog().Of(posture.Azure) {
			kind := typ.ResourceType()
			if kind == "" {
				continue
			}
			ancestor, ok := naming.Within(id, kind)
			if ok && !strings.HasPrefix("/"+strings.Trim(id, "/"), ancestor) {
				t.Errorf("Within(%q) is %q, which is not a prefix of the id", id, ancestor)
			}
			if a, parsed := naming.ParseARMID(ancestor); ok && (!parsed || !strings.EqualFold(a.ResourceType(), kind) || a.Name() == "") {
				t.Errorf("%q is accepted as a %s", ancestor, kind)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	s := &session{base: "https://management.azure.com", graph: "https://graph.microsoft.com"}
	for _, test := range []struct{ address, query, want string }{
		{"/subscriptions/s/providers/Microsoft.Sql/servers", `{"api-version":"2021-11-01","$expand":"a/b"}`, "https://management.azure.com/subscriptions/s/providers/Microsoft.Sql/servers?api-version=2021-11-01&$expand=a%2Fb"},
		{"/subscriptions/s/x y?z#%41/keys", `{}`, "https://management.azure.com/subscriptions/s/x%20y%3Fz%23%2541/keys"},
		{"graph:/v1.0/users/u", `{"$select":"id,name","$top":999}`, "https://graph.microsoft.com/v1.0/users/u?$select=id%2Cname&$top=999"},
	} {
		if got := s.url(test.address, gjson.Parse(test.query)); got != test.want {
			t.Errorf("%s is at %s, want %s", test.address, got, test.want)
		}
	}
}

// TestSignInErrors expects ErrIdentity only when the directory says that it refuses the
// application. Anything else may come from a proxy.
func TestSignInErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   error // nil for an error that says nothing about the credential
	}{
		{401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}`, collect.ErrIdentity},
		{400, `{"error":"unauthorized_client","error_description":"AADSTS7009999: New."}`, collect.ErrIdentity}, // a code that signInReasons lacks
		{400, `{"error":"temporarily_unavailable","error_description":"AADSTS90033: Try again."}`, nil},
		{429, `{}`, collect.ErrThrottled},
		{503, `{"error_description":"AADSTS7000215: Invalid client secret provided."}`, nil},
		{403, `<html>Access to this page is blocked</html>`, nil},
		{407, ``, nil},
		{404, `{}`, nil},
	} {
		answer := &http.Response{StatusCode: test.status, Body: io.NopCloser(strings.NewReader(test.body))}
		err := signIn(&azidentity.AuthenticationFailedError{RawResponse: answer})
		for _, kind := range []error{collect.ErrIdentity, collect.ErrThrottled} {
			if errors.Is(err, kind) != (kind == test.want) {
				t.Errorf("%d %s: the error is %v, want %v", test.status, test.body, err, test.want)
			}
		}
	}
}

func TestListsThatRepeatPagesEnd(t *testing.T) {
	t.Parallel()
	const first = "https://management.azure.com/a"
	next := map[string]string{first: "https://management.azure.com/b", "https://management.azure.com/b": "https://management.azure.com/c", "https://management.azure.com/c": "https://management.azure.com/b"}
	visited := map[string]bool{}
	address, err := first, error(nil)
	for range 10 {
		if address, err = follow(address, gjson.Parse(`{"nextLink":"`+next[address]+`"}`), visited); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "has been read already") {
		t.Errorf("error %v", err)
	}
}
