package kms

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// awsKey is a symmetric key in AWS KMS.
type awsKey struct {
	client *kms.Client
	arn    string
}

// openAWS takes the region from the ARN, so that a key elsewhere needs no more
// configuration.
func openAWS(ctx context.Context, name string, o Options) (tink.AEADWithContext, error) {
	parsed, err := arn.Parse(name)
	if err != nil || parsed.Service != "kms" || parsed.Region == "" {
		return nil, errors.New("it is not the ARN of a key")
	}
	conf, err := config.LoadDefaultConfig(ctx, config.WithRegion(parsed.Region))
	if err != nil {
		return nil, fmt.Errorf("find AWS credentials: %w", err)
	}
	client := kms.NewFromConfig(conf, func(k *kms.Options) {
		if o.Endpoint != "" {
			k.BaseEndpoint = aws.String(o.Endpoint)
		}
		if o.HTTPClient != nil {
			k.HTTPClient = o.HTTPClient
		}
	})
	return awsKey{client, name}, nil
}

func (k awsKey) EncryptWithContext(ctx context.Context, plain, associated []byte) ([]byte, error) {
	out, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: &k.arn, Plaintext: plain, EncryptionContext: encryptionContext(associated)})
	if err != nil {
		return nil, err
	}
	return out.CiphertextBlob, nil
}

func (k awsKey) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	// The key is named so that a blob wrapped by another key that we may use
	// does not open.
	out, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: &k.arn, CiphertextBlob: sealed, EncryptionContext: encryptionContext(associated)})
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}

// encryptionContext shows in CloudTrail what the key is used for.
func encryptionContext(associated []byte) map[string]string {
	c := map[string]string{"vigil": "master-key"}
	if len(associated) > 0 {
		c["associated"] = base64.StdEncoding.EncodeToString(associated)
	}
	return c
}
