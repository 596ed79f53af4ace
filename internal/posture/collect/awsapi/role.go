package awsapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/tidwall/gjson"
)

// A Role is what is assumed to read an account.
type Role struct {
	ARN         string
	ExternalID  string // none when empty
	SessionName string // what the account's owner sees of us in the logs
	Length      time.Duration
	Region      string // where STS is asked
}

// AssumeRole returns the credentials of a role. The client signs with our own
// identity. Wrap it with [aws.NewCredentialsCache], so that a session is used
// until it ends.
func (c *Client) AssumeRole(r Role) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		input := map[string]any{"RoleArn": r.ARN, "RoleSessionName": r.SessionName}
		if r.Length > 0 {
			input["DurationSeconds"] = int(r.Length / time.Second)
		}
		if r.ExternalID != "" {
			input["ExternalId"] = r.ExternalID
		}
		answer, err := c.Call(ctx, "sts", "AssumeRole", r.Region, input)
		if err != nil {
			return aws.Credentials{}, err
		}
		said := gjson.GetBytes(answer, "Credentials")
		ends, err := time.Parse(time.RFC3339, said.Get("Expiration").String())
		if err != nil {
			return aws.Credentials{}, fmt.Errorf("read when the session ends: %w", err)
		}
		made := aws.Credentials{
			AccessKeyID: said.Get("AccessKeyId").String(), SecretAccessKey: said.Get("SecretAccessKey").String(), SessionToken: said.Get("SessionToken").String(),
			Source: "AssumeRole", CanExpire: true, Expires: ends,
		}
		if !made.HasKeys() {
			return aws.Credentials{}, errors.New("the session that STS returned has no keys")
		}
		return made, nil
	})
}
