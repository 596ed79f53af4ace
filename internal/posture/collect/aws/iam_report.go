package aws

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"vigil/internal/posture/collect"
)

// A report is the credential report of an account: when each password and key
// was made, used and rotated, and who has a second factor, in one call instead of
// several for each user. It is read once in a session.
type report struct {
	mu    sync.Mutex
	done  bool
	lines map[string]reportLine // by user
	err   error
}

// A reportLine is what the report says of one user, by column.
type reportLine map[string]string

// rootUser is how the report calls the account's own identity.
const rootUser = "<root_account>"

// read returns the report. A failure is kept, except that of a run that ended.
func (p *report) read(ctx context.Context, s *scope) (map[string]reportLine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return p.lines, p.err
	}
	lines, err := readReport(ctx, iam.NewFromConfig(s.config))
	err = plain(err)
	if collect.Over(err) {
		return nil, err
	}
	p.done, p.lines, p.err = true, lines, err
	return lines, err
}

// readReport has the report made, which takes a few seconds unless there is one
// of the last four hours, and reads it.
func readReport(ctx context.Context, client *iam.Client) (map[string]reportLine, error) {
	for wait := time.Second; ; wait *= 2 {
		made, err := client.GenerateCredentialReport(ctx, &iam.GenerateCredentialReportInput{})
		if err != nil {
			return nil, err
		}
		if made.State == types.ReportStateTypeComplete {
			break
		}
		if wait > 30*time.Second {
			return nil, errors.New("the credential report is not ready after a minute")
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
	out, err := client.GetCredentialReport(ctx, &iam.GetCredentialReportInput{})
	if err != nil {
		return nil, err
	}
	return parseReport(out.Content)
}

func parseReport(content []byte) (map[string]reportLine, error) {
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 || rows[0][0] != "user" {
		return nil, errors.Join(errors.New("read the credential report: it is not one"), err)
	}
	lines := make(map[string]reportLine, len(rows)-1)
	for _, row := range rows[1:] {
		line := reportLine{}
		for i, name := range rows[0] {
			line[name] = row[i]
		}
		lines[row[0]] = line
	}
	return lines, nil
}

// moment returns the time of a column, or "" where the report has none: N/A,
// no_information, not_supported.
func (l reportLine) moment(column string) string {
	t, err := time.Parse(time.RFC3339, l[column])
	if err != nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (l reportLine) is(column string) bool { return l[column] == "true" }

// reportProperties declares what facts adds to a user.
var reportProperties = properties{
	flag("passwordEnabled", "It may log in to the console with a password."),
	text("passwordLastUsed", "When the password was last used; absent when it never was."),
	text("passwordLastChanged", "When the password was last set."),
	flag("mfaActive", "It has a second factor."),
	flag("accessKey1Active", "Its first access key works."),
	text("accessKey1LastRotated", "When the first access key was made."),
	text("accessKey1LastUsed", "When the first access key was last used; absent when it never was."),
	flag("accessKey2Active", "Its second access key works."),
	text("accessKey2LastRotated", "When the second access key was made."),
	text("accessKey2LastUsed", "When the second access key was last used; absent when it never was."),
}

// reportNames are the names of those properties, and the edges to keys.
var reportNames = func() []string {
	names := []string{"HAS_KEY"}
	for _, p := range reportProperties {
		names = append(names, p.Name)
	}
	return names
}()

// facts adds a user's line. A user made after the report has none yet: what it
// would say is unknown.
func (l reportLine) facts(r *resource) {
	if l == nil {
		r.Unread(errors.New("the credential report does not have it yet"), reportNames...)
		return
	}
	r.Flag("passwordEnabled", l.is("password_enabled")).Text("passwordLastUsed", l.moment("password_last_used")).
		Text("passwordLastChanged", l.moment("password_last_changed")).Flag("mfaActive", l.is("mfa_active"))
	for n := 1; n <= 2; n++ {
		column := fmt.Sprintf("access_key_%d_", n)
		property := "accessKey" + strconv.Itoa(n)
		r.Flag(property+"Active", l.is(column+"active")).Text(property+"LastRotated", l.moment(column+"last_rotated")).
			Text(property+"LastUsed", l.moment(column+"last_used_date"))
	}
}

// keys yields the numbers of the access keys that there are.
func (l reportLine) keys() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 1; n <= 2; n++ {
			column := fmt.Sprintf("access_key_%d_", n)
			if (l.is(column+"active") || l.moment(column+"last_rotated") != "") && !yield(n) {
				return
			}
		}
	}
}

// keyName names an access key: the report does not tell their ids.
func keyName(user string, n int) string { return fmt.Sprintf("%s/%d", user, n) }

var accessKeys = collector{
	Declaration: declaration{
		Type: accessKeyType, Scope: collect.PerAccount, Service: "iam", Doc: "A key that a user's programs sign calls with.",
		Permissions: []string{"iam:GenerateCredentialReport", "iam:GetCredentialReport"},
		Properties: properties{
			text("userName", "Whose it is."),
			flag("active", "It works."),
			text("lastRotated", "When it was made."),
			text("lastUsed", "When it was last used; absent when it never was."),
			text("lastUsedRegion", "Where it was last used."),
			text("lastUsedService", "What it was last used for."),
		},
		Edges:  edges{edge("KEY_OF", "Whose it is.", userType)},
		Events: events{on("iam", "CreateAccessKey", "UpdateAccessKey", "DeleteAccessKey")},
	},
	List: listAccessKeys,
	Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
		return one(name, emit, func(emit collect.Emit) error { return listAccessKeys(ctx, s, emit) })
	},
}

func listAccessKeys(ctx context.Context, s *scope, emit collect.Emit) error {
	lines, err := s.report.read(ctx, s)
	if err != nil {
		return err
	}
	for user, line := range lines {
		for n := range line.keys() {
			column := fmt.Sprintf("access_key_%d_", n)
			r := s.resource(accessKeyType, keyName(user, n))
			r.XID = line["arn"] + "#" + strconv.Itoa(n)
			r.Text("userName", user).Flag("active", line.is(column+"active")).Text("lastRotated", line.moment(column+"last_rotated")).
				Text("lastUsed", line.moment(column+"last_used_date"))
			for property, suffix := range map[string]string{"lastUsedRegion": "last_used_region", "lastUsedService": "last_used_service"} {
				if v := line[column+suffix]; v != "N/A" {
					r.Text(property, v)
				}
			}
			if user != rootUser {
				r.Edge("KEY_OF", s.global(userType, user))
			}
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}
