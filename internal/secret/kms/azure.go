package kms

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// azureKey is an RSA key in Azure Key Vault or a managed HSM.
type azureKey struct {
	client *azkeys.Client
	name   string
}

// openAzure opens a key given as vault/keys/name. A version is refused: the
// newest one wraps, and each wrapped key contains the version that unwraps it.
func openAzure(path string, o Options) (tink.AEADWithContext, error) {
	parts := strings.Split(path, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] != "keys" || parts[2] == "" {
		return nil, errors.New("it is not vault/keys/name")
	}
	credential := o.Azure
	if credential == nil {
		chain, err := azidentity.NewDefaultAzureCredential(nil)
		if err != nil {
			return nil, err
		}
		credential = chain
	}
	options, address := &azkeys.ClientOptions{}, "https://"+parts[0]
	if o.Endpoint != "" {
		// With another endpoint, such as a test server, the vault's name cannot be
		// compared with the authentication realm.
		address, options.DisableChallengeResourceVerification = o.Endpoint, true
	}
	if o.HTTPClient != nil {
		options.ClientOptions = azcore.ClientOptions{Transport: o.HTTPClient, Retry: policy.RetryOptions{MaxRetries: 2}}
	}
	keys, err := azkeys.NewClient(address, credential, options)
	if err != nil {
		return nil, err
	}
	return azureKey{keys, parts[2]}, nil
}

// algorithm encrypts the data key. RSA has no associated data; that of the keyset
// is authenticated by the data key (see the package comment).
var algorithm = azkeys.EncryptionAlgorithmRSAOAEP256

func (k azureKey) EncryptWithContext(ctx context.Context, plaintext, associated []byte) ([]byte, error) {
	if len(associated) > 0 {
		return nil, errors.New("a vault key does not support associated data")
	}
	// Without a version, the vault uses the newest one.
	out, err := k.client.WrapKey(ctx, k.name, "", azkeys.KeyOperationParameters{Algorithm: &algorithm, Value: plaintext}, nil)
	if err != nil {
		return nil, err
	}
	if out.KID == nil || out.KID.Version() == "" {
		return nil, errors.New("the vault did not return the version of the key it used")
	}
	return append([]byte(out.KID.Version()+"\n"), out.Result...), nil
}

func (k azureKey) DecryptWithContext(ctx context.Context, sealed, associated []byte) ([]byte, error) {
	version, wrapped, ok := bytes.Cut(sealed, []byte("\n"))
	if !ok || len(associated) > 0 {
		return nil, errors.New("not a wrapped key")
	}
	out, err := k.client.UnwrapKey(ctx, k.name, string(version), azkeys.KeyOperationParameters{Algorithm: &algorithm, Value: wrapped}, nil)
	if err != nil {
		return nil, err
	}
	return out.Result, nil
}
