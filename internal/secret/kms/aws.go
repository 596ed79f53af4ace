package kms

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// awsKey is a symmetric key in AWS KMS. Its methods send signed HTTP requests
// themselves: the SDK's module for KMS is large, and only two operations are needed.
type awsKey struct {
	client      *http.Client
	address     string
	region, arn string
	credentials aws.CredentialsProvider
}

// openAWS opens a key by its ARN, which contains the region.
func openAWS(ctx context.Context, name string, o Options) (tink.AEADWithContext, error) {
	parsed, err := arn.Parse(name)
	if err != nil || parsed.Service != "kms" || parsed.Region == "" {
		return nil, errors.New("it is not the ARN of a key")
	}
	conf, err := config.LoadDefaultConfig(ctx, config.WithRegion(parsed.Region))
	if err != nil {
		return nil, fmt.Errorf("find AWS credentials: %w", err)
	}
	k := awsKey{client: http.DefaultClient, address: awsAddress(parsed), region: parsed.Region, arn: name, credentials: conf.Credentials}
	k.address = cmp.Or(o.Endpoint, aws.ToString(conf.BaseEndpoint), k.address)
	if o.HTTPClient != nil {
		k.client = o.HTTPClient
	}
	return k, nil
}

// awsSuffixes are the domains of the partitions whose domain is not amazonaws.com.
var awsSuffixes = map[string]string{
	"aws-cn": "amazonaws.com.cn", "aws-iso": "c2s.ic.gov", "aws-iso-b": "sc2s.sgov.gov", "aws-iso-e": "cloud.adc-e.uk", "aws-iso-f": "csp.hci.ic.gov",
}

// awsAddress returns the address of AWS KMS in the region of a key.
func awsAddress(key arn.ARN) string {
	service := "kms"
	if strings.EqualFold(os.Getenv("AWS_USE_FIPS_ENDPOINT"), "true") {
		service = "kms-fips"
	}
	return "https://" + service + "." + key.Region + "." + cmp.Or(awsSuffixes[key.Partition], "amazonaws.com")
}

// awsMessage is the request and response of both operations. A request has only
// the members of its operation.
type awsMessage struct {
	KeyID             string            `json:"KeyId,omitempty"`
	Plaintext         []byte            `json:",omitempty"`
	CiphertextBlob    []byte            `json:",omitempty"`
	EncryptionContext map[string]string `json:",omitempty"`
}

func (k awsKey) EncryptWithContext(ctx context.Context, plaintext, associated []byte) ([]byte, error) {
	out, err := k.call(ctx, "Encrypt", awsMessage{Plaintext: plaintext, EncryptionContext: encryptionContext(associated)})
	if err != nil {
		return nil, err
	}
	return out.CiphertextBlob, nil
}

func (k awsKey) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	out, err := k.call(ctx, "Decrypt", awsMessage{CiphertextBlob: sealed, EncryptionContext: encryptionContext(associated)})
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}

// call calls KMS with the AWS JSON protocol. Decryption also names the key, so
// that a blob wrapped by another key is not decrypted.
func (k awsKey) call(ctx context.Context, operation string, in awsMessage) (out awsMessage, err error) {
	in.KeyID = k.arn
	err = call(ctx, k.client, k.address, in, &out, func(r *http.Request, body []byte) error {
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", "TrentService."+operation)
		credentials, err := k.credentials.Retrieve(ctx)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(body)
		return v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), "kms", k.region, time.Now())
	})
	return out, err
}

// awsThrottled reports whether a refusal is throttling by AWS, which has the status 400.
// The JSON of the other clouds has no such code.
func awsThrottled(text []byte) bool {
	var refusal struct {
		Type string `json:"__type"` // "ThrottlingException", with or without a namespace: "com.amazonaws.kms#ThrottlingException"
	}
	_ = json.Unmarshal(text, &refusal) // what is not JSON has no code
	_, throttled := retry.DefaultThrottleErrorCodes[refusal.Type[strings.LastIndex(refusal.Type, "#")+1:]]
	return throttled
}

// encryptionContext returns the associated data in the form of KMS: an encryption
// context. CloudTrail records it, so it also says what the key is used for.
func encryptionContext(associated []byte) map[string]string {
	c := map[string]string{"vigil": "master-key"}
	if len(associated) > 0 {
		c["associated"] = base64.StdEncoding.EncodeToString(associated)
	}
	return c
}
