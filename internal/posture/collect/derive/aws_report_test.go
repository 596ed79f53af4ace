package derive

import "testing"

// FuzzCredentialReport checks that no content of a report makes the parser panic.
func FuzzCredentialReport(f *testing.F) {
	f.Add("user,arn,password_enabled,access_key_1_active\n<root_account>,x,true,true\n")
	f.Fuzz(func(_ *testing.T, content string) {
		_, _ = parseReport(content)
	})
}
