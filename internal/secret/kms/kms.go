// Package kms provides master keys in a key management service, which they
// never leave: AWS KMS, Google Cloud KMS or Azure Key Vault.
//
// The service encrypts a data key of 32 bytes, which in turn encrypts the
// keyset. So the size of the keyset is not limited, and the service does not
// see it.
package kms

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/tink"

	"vigil/internal/secret"
)

// callTimeout limits one call to a service.
const callTimeout = 20 * time.Second

// Options override how services are called. The zero value finds credentials
// and addresses like each service's own tools.
type Options struct {
	Endpoint   string                 // overrides the service's address
	HTTPClient *http.Client           // overrides the SDK's client
	Azure      azcore.TokenCredential // overrides the default credential chain
	Anonymous  bool                   // Google: send no credentials
}

// Open returns the master key that a URI names:
//
//	aws-kms://arn:aws:kms:eu-west-1:111122223333:key/1234abcd-…
//	gcp-kms://projects/p/locations/l/keyRings/r/cryptoKeys/k
//	azure-kv://name.vault.azure.net/keys/k
func Open(ctx context.Context, uri string, o Options) (secret.Master, error) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return nil, fmt.Errorf("master key %q is not a key URI", uri)
	}
	var remote tink.AEADWithContext
	var err error
	switch scheme {
	case "aws-kms":
		remote, err = openAWS(ctx, rest, o)
	case "gcp-kms":
		remote, err = openGCP(ctx, rest, o)
	case "azure-kv":
		remote, err = openAzure(rest, o)
	default:
		err = fmt.Errorf("unknown key management service %q", scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("open master key %s: %w", uri, err)
	}
	envelope, err := aead.NewKMSEnvelopeAEADWithContext(aead.AES256GCMKeyTemplate(), bounded{remote})
	if err != nil {
		return nil, fmt.Errorf("open master key %s: %w", uri, err)
	}
	return master{uri, envelope}, nil
}

// master is a key in a service. Its URI, which is not secret, is its name.
type master struct {
	uri string
	tink.AEADWithContext
}

func (m master) Name() string { return m.uri }

// bounded adds a timeout to every call.
type bounded struct{ tink.AEADWithContext }

func (b bounded) EncryptWithContext(ctx context.Context, plaintext, associated []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return b.AEADWithContext.EncryptWithContext(ctx, plaintext, associated)
}

func (b bounded) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return b.AEADWithContext.DecryptWithContext(ctx, sealed, associated)
}
