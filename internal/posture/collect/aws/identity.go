package aws

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go/logging"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
)

// Identity is the identity of Vigil that assumes a customer's role: an access key or,
// without one, the identity of the machine. A server never reads accounts with it.
type Identity struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string
	Profile         string // profile of the shared configuration; AWS_PROFILE when empty
}

// Retrieve implements [aws.CredentialsProvider].
func (i *Identity) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if i.AccessKeyID != "" {
		return credentials.NewStaticCredentialsProvider(i.AccessKeyID, i.SecretAccessKey, i.SessionToken).Retrieve(ctx)
	}
	cfg, err := i.config(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	return cfg.Credentials.Retrieve(ctx)
}

// config loads the configuration of the environment and of the shared files of the
// AWS command line.
func (i *Identity) config(ctx context.Context) (aws.Config, error) {
	// The SDK can add certificate authorities only to a client of this type. Unlike
	// the client for customers' calls, it may reach the machine's metadata service.
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(awshttp.NewBuildableClient()), config.WithLogger(logging.Nop{})}
	if i.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(i.Profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS identity of Vigil: %w", err)
	}
	return cfg, nil
}

// assume returns the credentials of a role, which are renewed before they expire.
func (src *Source) assume(p partition, role arn.ARN, externalID string) (*aws.CredentialsCache, error) {
	client, err := src.ownClient()
	if err != nil {
		return nil, err
	}
	provider := client.AssumeRole(awsapi.Role{
		ARN: role.String(), ExternalID: externalID, SessionName: src.options.SessionName, SessionLength: src.options.SessionLength, Region: p.homeRegion,
	})
	return aws.NewCredentialsCache(assumedRole{provider, role}, func(o *aws.CredentialsCacheOptions) {
		o.ExpiryWindow = src.options.SessionLength / 10
		o.ExpiryWindowJitterFrac = 0.5
	}), nil
}

// assumedRole distinguishes a role that AWS refuses from an AWS that cannot be reached.
type assumedRole struct {
	aws.CredentialsProvider
	role arn.ARN
}

// Retrieve implements [aws.CredentialsProvider].
func (r assumedRole) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := r.CredentialsProvider.Retrieve(ctx)
	refused, ok := errors.AsType[*awsapi.Error](err)
	if !ok {
		return c, err
	}
	switch refused.Code {
	case "AccessDenied", "AccessDeniedException":
		return c, &identityError{"AWS does not let us assume " + r.role.String() + ": its trust policy must name our identity and the external id of the credential", err}
	case "ValidationError", "MalformedPolicyDocument":
		return c, &identityError{"AWS does not accept " + r.role.String() + " as a role: " + refused.Message, err}
	case "RegionDisabledException":
		return c, &identityError{"the account does not allow sessions in " + partitions[r.role.Partition].homeRegion, err}
	case "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "UnrecognizedClientException":
		return c, &ownError{refused.Code, err}
	}
	return c, err
}

// identityError is an ErrIdentity whose text says what the customer must change.
type identityError struct {
	reason string
	err    error
}

func (e *identityError) Error() string   { return e.reason }
func (e *identityError) Unwrap() []error { return []error{collect.ErrIdentity, e.err} }

// ownError is the error that AWS refuses the identity of Vigil itself. It says nothing
// about any customer's account.
type ownError struct {
	code string
	err  error
}

func (e *ownError) Error() string { return "AWS refuses the identity of Vigil (" + e.code + ")" }
func (e *ownError) Unwrap() error { return e.err }
