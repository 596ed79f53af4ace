package awsapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/tidwall/gjson"
)

// A Role is the role to assume for reading an account.
type Role struct {
	ARN           string
	ExternalID    string        // not sent when empty
	SessionName   string        // name in the logs of the account
	SessionLength time.Duration // not sent when zero: STS then chooses
	Region        string        // region of the STS call
}

// AssumeRole returns a provider of the credentials of a role. The client signs with the
// identity of Vigil. Wrap the provider with [aws.NewCredentialsCache] to use a session
// until it expires.
func (c *Client) AssumeRole(r Role) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		input := map[string]any{"RoleArn": r.ARN, "RoleSessionName": r.SessionName}
		if r.SessionLength > 0 {
			input["DurationSeconds"] = int(r.SessionLength / time.Second)
		}
		if r.ExternalID != "" {
			input["ExternalId"] = r.ExternalID
		}
		answer, err := c.Call(ctx, "sts", "AssumeRole", r.Region, input)
		if err != nil {
			return aws.Credentials{}, err
		}
		credentials := gjson.Get(answer, "Credentials")
		expires, err := time.Parse(time.RFC3339, credentials.Get("Expiration").String())
		if err != nil {
			return aws.Credentials{}, fmt.Errorf("parse the expiration of the session: %w", err)
		}
		assumed := aws.Credentials{
			AccessKeyID: credentials.Get("AccessKeyId").String(), SecretAccessKey: credentials.Get("SecretAccessKey").String(), SessionToken: credentials.Get("SessionToken").String(),
			Source: "AssumeRole", CanExpire: true, Expires: expires,
		}
		if !assumed.HasKeys() {
			return aws.Credentials{}, errors.New("STS returned a session without keys")
		}
		return assumed, nil
	})
}
