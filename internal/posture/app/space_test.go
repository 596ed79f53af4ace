package app_test

import (
	"testing"
	"time"

	"vigil/internal/diskspace"
	"vigil/internal/posture/app"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestCollectionsWaitForDiskSpace links an account while the disk is low on space: its first
// collection goes back into the queue, and users cannot request one.
func TestCollectionsWaitForDiskSpace(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		cloud := new(memcloud.Cloud)
		cloud.Add("111111111111", memcloud.Account{Properties: map[string]string{"RoleArn": "arn:aws:iam::111111111111:role/vigil"}})
		a, in := build(t, dsn, app.Options{Cloud: cloud})
		dir := t.TempDir()
		free, err := diskspace.New(dir, 1).Free()
		if err != nil {
			t.Fatal(err)
		}
		in.Space = diskspace.New(dir, 2*free) // half of the minimum is free: space is low, but not critical
		base, err := a.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		background(t, a.Serve)
		c, _, _ := newOrg(t, in, base, "org")
		c.want(201, "POST", accounts, awsAccount("111111111111"))
		id := c.want(201, "POST", credentials, awsCredential()).member("credentialId")
		c.want(201, "POST", relationships, object{"cloudAccountId": "111111111111", "credentialId": id})

		var state, status string
		for end := time.Now().Add(2 * time.Minute); state != "scheduled"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the job of the collection is %q, the run %q; want scheduled", state, status)
			}
			err := in.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
				jobs, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT CAST(state AS TEXT) FROM river_job WHERE queue = 'collect'`)
				if err != nil || len(jobs) == 0 {
					return err
				}
				state = jobs[0]
				status, err = sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT status FROM run`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if status != "Started" {
			t.Errorf("the run is %s, want Started", status)
		}
		c.want(503, "POST", "/v1/cloud-accounts/111111111111/collections", nil)
	})
}
