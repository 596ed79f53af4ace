package app_test

import (
	"net/http"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

// TestProcessesShareTheWorkByRole runs one process that serves requests and one that
// runs jobs, on one PostgreSQL database.
func TestProcessesShareTheWorkByRole(t *testing.T) {
	t.Parallel()
	h := newHost(t, dbtest.Postgres(t))
	h.args = []string{"-roles", "api"}
	front, _ := h.start()
	account := "123456789012"
	front.want(201, "POST", accounts, awsAccount(account))
	id := front.want(201, "POST", credentials, awsCredential()).member("credentialId")
	front.want(201, "POST", relationships, object{"cloudAccountId": account, "credentialId": id})

	h.args = []string{"-roles", "collect,evaluate"}
	back, _ := h.launch()
	if status, _, err := back.send("GET", "/healthz", nil); status != http.StatusOK || err != nil {
		t.Errorf("health of a process that does jobs: %d, %v", status, err)
	}
	if status, _, err := back.send("POST", "/v1/cloud-accounts/query", object{}); status != http.StatusNotFound || err != nil {
		t.Errorf("a process without the role api answers %d, %v; want 404", status, err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got, _ := front.want(200, "GET", accounts+"/"+account, nil).body["accountStatus"].(object)
		if got["value"] == "validation-failed" { // the simulated cloud does not have the account
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the account is %v: the other process did not validate it", got)
		}
	}
}
