package kms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// gcpKey is a symmetric key in Google Cloud KMS.
type gcpKey struct {
	client  *http.Client
	address string             // of the key
	tokens  auth.TokenProvider // nil to send no credentials
}

var gcpName = regexp.MustCompile(`^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$`)

func openGCP(_ context.Context, name string, o Options) (tink.AEADWithContext, error) {
	if !gcpName.MatchString(name) {
		return nil, errors.New("it is not projects/…/locations/…/keyRings/…/cryptoKeys/…")
	}
	k := gcpKey{client: http.DefaultClient, address: cmp.Or(o.Endpoint, "https://cloudkms.googleapis.com") + "/v1/" + name}
	if o.HTTPClient != nil {
		k.client = o.HTTPClient
	}
	if !o.Anonymous {
		found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{"https://www.googleapis.com/auth/cloudkms"}})
		if err != nil {
			return nil, fmt.Errorf("find Google Cloud credentials: %w", err)
		}
		k.tokens = found
	}
	return k, nil
}

// errGarbled means that a checksum of a message is wrong. Google asks clients
// to verify checksums.
var errGarbled = errors.New("the key management service received or sent a corrupted message")

// gcpRequest is the body of a call. Checksums are sent even when they are zero.
type gcpRequest struct {
	Plaintext         []byte `json:"plaintext,omitempty"`
	PlaintextCRC      *int64 `json:"plaintextCrc32c,string,omitempty"`
	Ciphertext        []byte `json:"ciphertext,omitempty"`
	CiphertextCRC     *int64 `json:"ciphertextCrc32c,string,omitempty"`
	AssociatedData    []byte `json:"additionalAuthenticatedData,omitempty"`
	AssociatedDataCRC int64  `json:"additionalAuthenticatedDataCrc32c,string"`
}

func (k gcpKey) EncryptWithContext(ctx context.Context, plaintext, associated []byte) ([]byte, error) {
	sum := checksum(plaintext)
	var out struct {
		Ciphertext             []byte `json:"ciphertext"`
		CiphertextCRC          int64  `json:"ciphertextCrc32c,string"`
		VerifiedPlaintext      bool   `json:"verifiedPlaintextCrc32c"`
		VerifiedAssociatedData bool   `json:"verifiedAdditionalAuthenticatedDataCrc32c"`
	}
	in := gcpRequest{Plaintext: plaintext, PlaintextCRC: &sum, AssociatedData: associated, AssociatedDataCRC: checksum(associated)}
	if err := call(ctx, k.client, k.address+":encrypt", in, &out, k.sign); err != nil {
		return nil, err
	}
	if !out.VerifiedPlaintext || !out.VerifiedAssociatedData || out.CiphertextCRC != checksum(out.Ciphertext) {
		return nil, errGarbled
	}
	return out.Ciphertext, nil
}

func (k gcpKey) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	sum := checksum(sealed)
	var out struct {
		Plaintext    []byte `json:"plaintext"`
		PlaintextCRC int64  `json:"plaintextCrc32c,string"`
	}
	in := gcpRequest{Ciphertext: sealed, CiphertextCRC: &sum, AssociatedData: associated, AssociatedDataCRC: checksum(associated)}
	if err := call(ctx, k.client, k.address+":decrypt", in, &out, k.sign); err != nil {
		return nil, err
	}
	if out.PlaintextCRC != checksum(out.Plaintext) {
		return nil, errGarbled
	}
	return out.Plaintext, nil
}

// sign adds a token to a request.
func (k gcpKey) sign(r *http.Request, _ []byte) error {
	if k.tokens == nil {
		return nil
	}
	token, err := k.tokens.Token(r.Context())
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+token.Value)
	}
	return err
}

func checksum(b []byte) int64 {
	return int64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
