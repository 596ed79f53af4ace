package derive

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// awsCredentialReport is the IAM credential report of the account as a list of its lines:
// when each password and key was created, used and rotated. It takes one call instead of
// several per user. Columns without a value are omitted.
var awsCredentialReport = resource.AnswerFunction{
	Calls: []string{"iam.GenerateCredentialReport", "iam.GetCredentialReport"},
	Apply: func(ctx context.Context, c resource.Caller) (gjson.Result, error) {
		if err := generateReport(ctx, c); err != nil {
			return gjson.Result{}, err
		}
		answers, err := c.Call(ctx, resource.Request{Call: "iam.GetCredentialReport"}, nil)
		if err != nil {
			return gjson.Result{}, err
		}
		content := answers[0].Get("Content").String()
		if decoded, err := base64.StdEncoding.DecodeString(content); err == nil {
			content = string(decoded)
		}
		return parseReport(content)
	},
}

// generateReport requests the report and waits for it. That takes a few seconds unless there
// is a report from the last four hours.
func generateReport(ctx context.Context, c resource.Caller) error {
	for wait := time.Second; ; wait *= 2 {
		answers, err := c.Call(ctx, resource.Request{Call: "iam.GenerateCredentialReport"}, nil)
		switch {
		case err != nil:
			return err
		case answers[0].Get("State").Str == "COMPLETE":
			return nil
		case wait > 30*time.Second:
			return errors.New("IAM has not generated the credential report within 30 seconds")
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func parseReport(content string) (gjson.Result, error) {
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil || len(rows) == 0 || rows[0][0] != "user" {
		return gjson.Result{}, errors.Join(errors.New("the credential report is malformed"), err)
	}
	lines := make([]map[string]any, 0, len(rows)-1)
	for _, row := range rows[1:] {
		line := map[string]any{}
		for i, column := range rows[0] {
			if value := reportValue(column, row[i]); value != nil {
				line[column] = value
			}
		}
		first, _ := line["access_key_1_last_used_date"].(string)
		second, _ := line["access_key_2_last_used_date"].(string)
		if lastUsed := max(first, second); lastUsed != "" {
			line["access_key_last_used_date"] = lastUsed
		}
		line["keys"] = reportKeys(row[0], line)
		lines = append(lines, line)
	}
	text, err := json.Marshal(lines)
	return gjson.ParseBytes(text), err
}

// reportValue returns the value of a column, nil when the report has none.
func reportValue(column, text string) any {
	switch {
	case text == "true" || text == "false":
		return text == "true"
	case text == "N/A" || text == "":
		return nil
	case strings.Contains(column, "_date") || strings.HasSuffix(column, "_last_used") || strings.HasSuffix(column, "_last_changed") ||
		strings.HasSuffix(column, "_last_rotated") || strings.HasSuffix(column, "_time"):
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil // no_information or not_supported
		}
		return t.UTC().Format(time.RFC3339)
	}
	return text
}

// reportKeys returns names for a user's access keys. The report does not contain their ids.
func reportKeys(user string, line map[string]any) []string {
	names := []string{}
	for n := 1; n <= 2; n++ {
		column := fmt.Sprintf("access_key_%d_", n)
		if line[column+"active"] == true || line[column+"last_rotated"] != nil {
			names = append(names, user+"/"+strconv.Itoa(n))
		}
	}
	return names
}

// awsAccessKeys lists the access keys in the credential report.
var awsAccessKeys = resource.ListFunction{
	Calls: awsCredentialReport.Calls,
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		report, err := c.Answer(ctx, "aws.credentialReport")
		if err != nil {
			return nil, err
		}
		var items []resource.Item
		for _, line := range report.Array() {
			for _, name := range line.Get("keys").Array() {
				n := name.Str[len(name.Str)-1:]
				user := line.Get("user").Str
				key := map[string]any{"name": name.Str, "user": user, "xid": line.Get("arn").Str + "#" + n}
				if user != "<root_account>" { // the root account is not an IAM user
					key["iamUser"] = user
				}
				for _, column := range []string{"active", "last_rotated", "last_used_date", "last_used_region", "last_used_service"} {
					if value := line.Get("access_key_" + n + "_" + column); value.Exists() {
						key[column] = value.Value()
					}
				}
				text, err := json.Marshal(key)
				if err != nil {
					return nil, err
				}
				items = append(items, resource.Item{Result: gjson.ParseBytes(text)})
			}
		}
		return items, nil
	},
}
