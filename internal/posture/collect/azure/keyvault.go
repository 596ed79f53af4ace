package azure

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

type entityType = posture.EntityType

const (
	vaultType  = "Azure.KeyVault.Vault"
	keyType    = "Azure.KeyVault.Key"
	secretType = "Azure.KeyVault.Secret"
)

const vaultVersion = "2023-07-01"

// Keys and secrets are read from Resource Manager, which describes them and
// never shows them.
var keyVaultKinds = []*kind{
	{
		typ: vaultType, doc: "A vault of keys, secrets and certificates.",
		arm: "Microsoft.KeyVault/vaults", version: vaultVersion,
		rows: []row{
			flag("enablePurgeProtection", "properties.enablePurgeProtection", "What was deleted cannot be removed for good before its time.").or(false),
			flag("enableSoftDelete", "properties.enableSoftDelete", "What was deleted can be brought back.").or(false),
			number("softDeleteRetentionInDays", "properties.softDeleteRetentionInDays", "For how many days."),
			flag("enableRbacAuthorization", "properties.enableRbacAuthorization", "Roles say who may use it, not its own policies.").or(false),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			text("networkAclsDefaultAction", "properties.networkAcls.defaultAction", "What happens to calls from networks that no rule names.").or("Allow"),
			text("sku", "properties.sku.name", "Its edition: standard, or premium with keys in hardware."),
			flag("enabledForDeployment", "properties.enabledForDeployment", "Virtual machines may fetch certificates from it.").or(false),
			flag("enabledForTemplateDeployment", "properties.enabledForTemplateDeployment", "Deployments may fetch secrets from it.").or(false),
			flag("enabledForDiskEncryption", "properties.enabledForDiskEncryption", "Disk encryption may use its keys.").or(false),
		},
		links: []link{
			principals("GRANTS_ACCESS", "Whom its own policies let in.", func(j gjson.Result) []string { return flat(j.Get("properties.accessPolicies.#.objectId")) }),
			refs("ALLOWS", "properties.networkAcls.virtualNetworkRules.#.id", "Subnets that are let in.", subnetType),
		},
		has:     []entityType{keyType, secretType},
		details: []detail{exported("/providers/Microsoft.Insights/diagnosticSettings", "Categories of its log that some diagnostic setting exports.")},
		events:  []collect.Event{{Source: "Microsoft.Insights/diagnosticSettings", Names: []string{"write", "delete"}}},
	},
	{
		typ: keyType, doc: "A key in a vault.",
		arm: "Microsoft.KeyVault/vaults/keys", version: vaultVersion, in: vaultType,
		rows: []row{
			number("exp", "properties.attributes.exp", "When it expires, in seconds since 1970; absent when never."),
			number("created", "properties.attributes.created", "When it was made, in seconds since 1970."),
			flag("enabled", "properties.attributes.enabled", "It can be used.").or(true),
		},
		events: []collect.Event{{Source: "Microsoft.KeyVault", Names: []string{"KeyNewVersionCreated"}}},
	},
	{
		typ: secretType, doc: "A secret in a vault, without its value.",
		arm: "Microsoft.KeyVault/vaults/secrets", version: vaultVersion, in: vaultType,
		rows: []row{
			number("exp", "properties.attributes.exp", "When it expires, in seconds since 1970; absent when never."),
			number("created", "properties.attributes.created", "When it was made, in seconds since 1970."),
			flag("enabled", "properties.attributes.enabled", "It can be used.").or(true),
			text("contentType", "properties.contentType", "What it is, in its owner's words."),
		},
		events: []collect.Event{{Source: "Microsoft.KeyVault", Names: []string{"SecretNewVersionCreated"}}},
	},
}

// keyEdge is added by encrypted.
var keyEdge = collect.Edge{Label: "ENCRYPTED_BY", To: []entityType{keyType}, Doc: "The customer's own key."}

// encrypted adds an edge to the key of a vault that is named by its address:
//
//	https://vault.vault.azure.net/keys/name/version
//
// The edge is left out when the vault is not in the subscription.
func (s *session) encrypted(ctx context.Context, r *resource, address string) error {
	name, key, ok := cutKey(address)
	if !ok {
		return nil
	}
	return collect.Detail(r, func() error {
		vault, err := s.vaults.find(ctx, s, name)
		if err == nil && vault != "" {
			r.Edge(keyEdge.Label, s.id(keyType, vault+"/keys/"+key))
		}
		return err
	}, keyEdge.Label)
}

// A vaultIndex finds vaults by name: addresses of keys do not say which group
// their vault is in.
type vaultIndex struct {
	mu   sync.Mutex
	ids  map[string]string // by name in lower case
	read time.Time
}

// find returns the id of a vault, or "" when there is none in the subscription.
func (v *vaultIndex) find(ctx context.Context, s *session, name string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := s.memo.now(); v.ids == nil || now.Sub(v.read) > memoAge {
		ids := map[string]string{}
		err := kindOf(vaultType).inTurn(ctx, s, func(it item) error {
			ids[strings.ToLower(it.Get("name").String())] = it.id
			return nil
		})
		if err != nil {
			return "", err
		}
		v.ids, v.read = ids, now
	}
	return v.ids[strings.ToLower(name)], nil
}

// cutKey returns the vault and name of a key from its address.
func cutKey(address string) (vault, key string, ok bool) {
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
