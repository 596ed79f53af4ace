package aws_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"vigil/internal/fault"
	"vigil/internal/posture/collect/aws"
)

// hub simulates Security Hub, and the STS that issues credentials for it. It verifies signatures.
type hub struct {
	mu      sync.Mutex
	batches []int  // number of findings in each import
	answer  string // response to an import; reports success when empty
	status  int    // of this response; 200 when 0. Others come with the error code InvalidAccessException
}

var hubSession = awssdk.Credentials{AccessKeyID: "ASIAHUB", SecretAccessKey: "secret", SessionToken: "token"}

const hubRole, hubExternalID = "arn:aws:iam::111122223333:role/vigil-hub", "vigil-0123"

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path != "/findings/import" {
		form := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if form.FormValue("Action") != "AssumeRole" || form.FormValue("RoleArn") != hubRole || form.FormValue("ExternalId") != hubExternalID {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`)
			return
		}
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			hubSession.AccessKeyID, hubSession.SecretAccessKey, hubSession.SessionToken, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		return
	}
	if want := signatureOf(r, body); r.Header.Get("Authorization") != want {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"message":"the signature is %s, want %s"}`, r.Header.Get("Authorization"), want)
		return
	}
	var in struct{ Findings []json.RawMessage }
	_ = json.Unmarshal(body, &in)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches = append(h.batches, len(in.Findings))
	if h.status != 0 {
		w.Header().Set("X-Amzn-Errortype", "InvalidAccessException:http://internal")
		w.WriteHeader(h.status)
	}
	if h.answer == "" {
		h.answer = `{"FailedCount":0,"SuccessCount":1,"FailedFindings":[]}`
	}
	_, _ = io.WriteString(w, h.answer)
}

// signatureOf signs a received request again.
func signatureOf(r *http.Request, body []byte) string {
	at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	again.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	sum := sha256.Sum256(body)
	_ = v4.NewSigner().SignHTTP(r.Context(), hubSession, again, hex.EncodeToString(sum[:]), "securityhub", "eu-west-1", at)
	return again.Header.Get("Authorization")
}

func findings(n int) (all []json.RawMessage) {
	for i := range n {
		all = append(all, fmt.Appendf(nil, `{"Id":"f%d"}`, i))
	}
	return all
}

func TestFindingsAreImportedIntoSecurityHub(t *testing.T) {
	t.Parallel()
	h := &hub{}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	source := aws.New(aws.Options{HTTP: s.Client(), Identity: aws.Identity{AccessKeyID: "AKIA", SecretAccessKey: "own"}, Endpoint: s.URL, Attempts: 1})
	failed, err := source.ImportFindings(t.Context(), hubRole, hubExternalID, "eu-west-1", findings(250))
	if err != nil || len(failed) != 0 || fmt.Sprint(h.batches) != "[100 100 50]" {
		t.Fatalf("failed %v, %v, batches %v; a call may have 100 findings", failed, err, h.batches)
	}
	h.answer = `{"FailedCount":1,"SuccessCount":1,"FailedFindings":[{"Id":"f1","ErrorCode":"InvalidInput","ErrorMessage":"bad title"}]}`
	if failed, err = source.ImportFindings(t.Context(), hubRole, hubExternalID, "eu-west-1", findings(2)); err != nil || failed["f1"] != "InvalidInput: bad title" {
		t.Errorf("failed %v, %v", failed, err)
	}
	h.status, h.answer = 401, `{"message":"Account is not subscribed to AWS Security Hub"}`
	if _, err = source.ImportFindings(t.Context(), hubRole, hubExternalID, "eu-west-1", findings(1)); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "not subscribed") {
		t.Errorf("not subscribed: %v", err)
	}
	if _, err = source.ImportFindings(t.Context(), hubRole, "another", "eu-west-1", findings(1)); !fault.Is(err, fault.Forbidden) {
		t.Errorf("another external id: %v", err)
	}
}

// TestPeerSecurityHub imports findings into the Security Hub of moto.
func TestPeerSecurityHub(t *testing.T) {
	moto := os.Getenv("VIGIL_TEST_MOTO")
	if moto == "" {
		t.Skip("VIGIL_TEST_MOTO is not set")
	}
	source := aws.New(aws.Options{HTTP: http.DefaultClient, Identity: aws.Identity{AccessKeyID: "AKIATEST", SecretAccessKey: "own"}, Endpoint: "http://" + moto, OwnAccount: true})
	f := `{"SchemaVersion":"2018-10-08","Id":"vigil/%d","ProductArn":"arn:aws:securityhub:us-east-1:111122223333:product/111122223333/default","GeneratorId":"r","AwsAccountId":"111122223333",` +
		`"Types":["Software and Configuration Checks"],"CreatedAt":"2026-01-01T00:00:00.000Z","UpdatedAt":"2026-01-01T00:00:00.000Z","Severity":{"Label":"HIGH"},"Title":"t","Description":"d",` +
		`"Resources":[{"Type":"Other","Id":"x"}]}`
	var all []json.RawMessage
	for i := range 120 {
		all = append(all, fmt.Appendf(nil, f, i))
	}
	failed, err := source.ImportFindings(t.Context(), hubRole, hubExternalID, "us-east-1", all)
	if err != nil || len(failed) != 0 {
		t.Fatalf("failed %v, %v", failed, err)
	}
}
