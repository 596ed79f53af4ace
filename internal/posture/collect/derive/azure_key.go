package derive

import (
	"errors"
	"net/url"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

const (
	azureVault    posture.EntityType = "Azure.KeyVault.Vault"
	azureVaultKey posture.EntityType = "Azure.KeyVault.Key"
)

var azureKeyEdge = resource.Edge{Label: "ENCRYPTED_BY", To: resource.EntityTypes{azureVaultKey}, Doc: "The customer-managed key."}

// azureKeyVaultKey adds an edge to the Key Vault key that a URI names:
//
//	https://vault.vault.azure.net/keys/name/version
//
// A URI does not contain the resource group of the vault, so all vaults are listed. There is
// no edge when the vault is not in the subscription.
var azureKeyVaultKey = resource.Function{
	Edges: []resource.Edge{azureKeyEdge},
	Reads: []posture.EntityType{azureVault},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		name, key, ok := azureCutKey(in.Value.String())
		if !ok {
			return nil
		}
		vaults, err := in.Caller.Once("key vaults", func() (any, error) {
			ids := map[string]string{}
			err := in.Caller.Each(in.Ctx, azureVault, func(vault *resource.Item) error {
				ids[strings.ToLower(vault.Get("name").String())] = vault.Get("id").String()
				return nil
			})
			return ids, err
		})
		if errors.Is(err, collect.ErrOff) {
			return nil // the subscription does not use Key Vault
		}
		if err != nil {
			return err
		}
		if vault := vaults.(map[string]string)[strings.ToLower(name)]; vault != "" {
			b.Edge(azureKeyEdge.Label, in.Cloud.Ref(in.Vars, azureKeyEdge.To, vault+"/keys/"+key))
		}
		return nil
	},
}

// azureActiveKey adds an edge to the key of a disk encryption set. Its reference contains the
// id of the vault.
var azureActiveKey = resource.Function{
	Edges: []resource.Edge{azureKeyEdge},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if _, key, ok := azureCutKey(in.Value.Get("keyUrl").String()); ok {
			b.Edge(azureKeyEdge.Label, in.Cloud.Ref(in.Vars, azureKeyEdge.To, in.Value.Get("sourceVault.id").String()+"/keys/"+key))
		}
		return nil
	},
}

// azureCutKey returns the vault and name of a key from its URI.
func azureCutKey(address string) (vault, key string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", false
	}
	parts := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	vault, _, dotted := strings.Cut(u.Hostname(), ".")
	if !dotted || len(parts) < 2 || parts[0] != "keys" {
		return "", "", false
	}
	return vault, parts[1], true
}
