package aws

import (
	"vigil/internal/sim/world"
)

// vault contains the kinds of keys and secrets.
type vault struct {
	keys, aliases, secrets, parameters *world.Kind
}

func (e *inventory) makeVault() {
	e.keys = e.uuidNamed("AWS.KMS.Key", e.share(10, 5), e.kmsKey)
	e.aliases = e.wordNamed("AWS.KMS.Alias", "app", e.keys.Count, func(p world.Place, i int, name string) world.Object {
		return world.Obj("AliasName", "alias/"+name, "AliasArn", arn("kms", p, "alias/"+name), "TargetKeyId", e.keys.Name(p, i), "CreationDate", e.ago(250))
	})
	e.secrets = e.hexNamed("AWS.SecretsManager.Secret", "secret-", 9, e.share(20, 3), func(p world.Place, i int, name string) world.Object {
		rotates := !e.violates("aws-secret-rotation", p, i)
		// The ARN of a secret has a random suffix that its name does not have: here, the last two digits.
		o := world.Obj("ARN", arn("secretsmanager", p, "secret:"+name), "Name", name[:len(name)-2], "RotationEnabled", rotates, "KmsKeyId", e.keyARN(p, i),
			"CreatedDate", e.ago(300), "LastChangedDate", e.ago(20), "OwningService", "rds", "Tags", e.tagList(p, "secret", i, "Key", "Value"))
		if rotates {
			o = append(o, world.Obj("LastRotatedDate", e.ago(20), "RotationLambdaARN", arn("lambda", p, "function:"+nth(e.functions, p, i)),
				"RotationRules", world.Obj("AutomaticallyAfterDays", 30))...)
		}
		return o
	})
	e.parameters = e.wordNamed("AWS.SSM.Parameter", "/app/setting", e.share(40, 3), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("Name", name, "ARN", arn("ssm", p, "parameter"+name), "Type", "String", "LastModifiedDate", e.ago(40), "Version", 1+i%7,
			"Tier", "Standard", "DataType", "text")
		if i%2 == 0 {
			o = o.With("Type", "SecureString").With("KeyId", "alias/"+nth(e.aliases, p, i))
		}
		return o
	})
}

// keyARN returns the ARN of the i-th key, modulo their number.
func (e *inventory) keyARN(p world.Place, i int) string {
	return arn("kms", p, "key/"+nth(e.keys, p, i))
}

func (e *inventory) kmsKey(p world.Place, i int, id string) world.Object {
	statements := []world.Object{allow("AWS:"+arn("iam", everywhere(p), "root"), "kms:*", "*")}
	if e.violates("aws-kms-key-public", p, i) {
		statements = append(statements, allow("AWS:*", "kms:Decrypt", "*"))
	}
	manager := "CUSTOMER"
	if i%4 == 3 {
		manager = "AWS"
	}
	o := world.Obj("KeyId", id, "Arn", arn("kms", p, "key/"+id), "AWSAccountId", p.Account, "CreationDate", e.ago(250), "Enabled", true,
		"Description", "key of "+p.Region, "KeyUsage", "ENCRYPT_DECRYPT", "KeyState", "Enabled", "Origin", "AWS_KMS", "KeyManager", manager,
		"KeySpec", "SYMMETRIC_DEFAULT", "CustomerMasterKeySpec", "SYMMETRIC_DEFAULT", "EncryptionAlgorithms", world.Items("SYMMETRIC_DEFAULT"),
		"MultiRegion", false, "_policy", policy(statements...), "_rotation", !e.violates("aws-kms-rotation", p, i), "_tags", e.tagList(p, "key", i, "TagKey", "TagValue"))
	if i%9 == 4 {
		o = o.With("KeyState", "PendingDeletion").With("DeletionDate", e.ago(-7)).With("Enabled", false)
	}
	return o
}

func vaultService(c *Cloud) {
	e := c.inventory
	c.register("kms", "ListKeys", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.keys, field: "Keys", token: "Marker", next: "NextMarker", max: "Limit", truncated: "Truncated", page: 1000,
			shape: func(name string, o world.Object) any { return world.Obj("KeyId", name, "KeyArn", o.Get("Arn")) }})
	})
	c.register("kms", "ListAliases", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.aliases, field: "Aliases", token: "Marker", next: "NextMarker", max: "Limit", truncated: "Truncated", page: 100})
	})
	key := func(action string, write func(o world.Object) world.Object) {
		c.register("kms", action, func(x *call) (answer, error) {
			o, ok := c.Get(e.keys, x.place(), afterSlash(x.text("KeyId")))
			if !ok {
				return answer{}, &failure{400, "NotFoundException", "Key '" + x.text("KeyId") + "' does not exist"}
			}
			return answer{Object: write(o)}, nil
		})
	}
	key("DescribeKey", func(o world.Object) world.Object { return world.Obj("KeyMetadata", o.Visible()) })
	key("GetKeyPolicy", func(o world.Object) world.Object {
		return world.Obj("Policy", o.Get("_policy"), "PolicyName", "default")
	})
	key("GetKeyRotationStatus", func(o world.Object) world.Object { return world.Obj("KeyRotationEnabled", o.Get("_rotation")) })
	key("ListResourceTags", func(o world.Object) world.Object { return world.Obj("Tags", o.List("_tags"), "Truncated", false) })
	c.register("secretsmanager", "ListSecrets", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.secrets, field: "SecretList", token: "NextToken", next: "NextToken", max: "MaxResults", page: 100})
	})
	c.register("ssm", "DescribeParameters", func(x *call) (answer, error) {
		l := listing{kind: e.parameters, field: "Parameters", token: "NextToken", next: "NextToken", max: "MaxResults", page: 50}
		for _, f := range x.body.Objects("ParameterFilters") { // at most one, by name
			l.only = func(name string, _ world.Object) bool { return name == scalar(f.List("Values")[0]) }
		}
		return x.list(c, l)
	})
}
