package aws

import (
	"vigil/internal/sim/world"
)

func (e *estate) makeKeys() {
	e.keys = e.uuids("AWS.KMS.Key", e.share(10, 4), e.kmsKey)
}

// keyARN returns the resource name of the i-th key, going round.
func (e *estate) keyARN(p world.Place, i int) string { return arn("kms", p, "key/"+nth(e.keys, p, i)) }

func (e *estate) kmsKey(p world.Place, i int, id string) world.Object {
	statement := allow("AWS:"+arn("iam", everywhere(p), "root"), "kms:*", "*")
	statements := []world.Object{statement}
	if e.flawed("aws-kms-key-public", p, i) {
		statements = append(statements, allow("AWS:*", "kms:Decrypt", "*"))
	}
	manager, spec := "CUSTOMER", "SYMMETRIC_DEFAULT"
	if i%4 == 3 {
		manager = "AWS"
	}
	return world.Obj("KeyId", id, "Arn", arn("kms", p, "key/"+id), "AWSAccountId", p.Account, "CreationDate", e.ago(250), "Enabled", true,
		"Description", "key of "+p.Region, "KeyUsage", "ENCRYPT_DECRYPT", "KeyState", "Enabled", "Origin", "AWS_KMS", "KeyManager", manager,
		"KeySpec", spec, "CustomerMasterKeySpec", spec, "EncryptionAlgorithms", world.Items("SYMMETRIC_DEFAULT"), "MultiRegion", false,
		"_policy", policy(statements...), "_rotation", !e.flawed("aws-kms-rotation", p, i), "_tags", e.tagList(p, "key", i, "TagKey", "TagValue"))
}
