package kms

import (
	"context"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"regexp"

	"github.com/tink-crypto/tink-go/v2/tink"
	"google.golang.org/api/cloudkms/v1"
	"google.golang.org/api/option"
)

// gcpKey is a symmetric key in Google Cloud KMS.
type gcpKey struct {
	keys *cloudkms.ProjectsLocationsKeyRingsCryptoKeysService
	name string
}

var gcpName = regexp.MustCompile(`^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$`)

func openGCP(ctx context.Context, name string, o Options) (tink.AEADWithContext, error) {
	if !gcpName.MatchString(name) {
		return nil, errors.New("it is not projects/…/locations/…/keyRings/…/cryptoKeys/…")
	}
	var opts []option.ClientOption
	if o.Endpoint != "" {
		opts = append(opts, option.WithEndpoint(o.Endpoint))
	}
	if o.HTTPClient != nil {
		opts = append(opts, option.WithHTTPClient(o.HTTPClient))
	}
	if o.Anonymous {
		opts = append(opts, option.WithoutAuthentication())
	}
	service, err := cloudkms.NewService(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return gcpKey{service.Projects.Locations.KeyRings.CryptoKeys, name}, nil
}

// errGarbled says that a message did not arrive as it was sent, which Google
// asks clients to check.
var errGarbled = errors.New("the key management service received or sent a garbled message")

func (k gcpKey) EncryptWithContext(ctx context.Context, plain, associated []byte) ([]byte, error) {
	out, err := k.keys.Encrypt(k.name, &cloudkms.EncryptRequest{
		Plaintext: encode(plain), PlaintextCrc32c: checksum(plain),
		AdditionalAuthenticatedData: encode(associated), AdditionalAuthenticatedDataCrc32c: checksum(associated),
		ForceSendFields: []string{"PlaintextCrc32c", "AdditionalAuthenticatedDataCrc32c"},
	}).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	sealed, err := base64.StdEncoding.DecodeString(out.Ciphertext)
	if err != nil {
		return nil, err
	}
	if !out.VerifiedPlaintextCrc32c || !out.VerifiedAdditionalAuthenticatedDataCrc32c || out.CiphertextCrc32c != checksum(sealed) {
		return nil, errGarbled
	}
	return sealed, nil
}

func (k gcpKey) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	out, err := k.keys.Decrypt(k.name, &cloudkms.DecryptRequest{
		Ciphertext: encode(sealed), CiphertextCrc32c: checksum(sealed),
		AdditionalAuthenticatedData: encode(associated), AdditionalAuthenticatedDataCrc32c: checksum(associated),
		ForceSendFields: []string{"CiphertextCrc32c", "AdditionalAuthenticatedDataCrc32c"},
	}).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(out.Plaintext)
	if err != nil {
		return nil, err
	}
	if out.PlaintextCrc32c != checksum(plain) {
		return nil, errGarbled
	}
	return plain, nil
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func checksum(b []byte) int64 {
	return int64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
