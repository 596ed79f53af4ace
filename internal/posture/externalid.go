package posture

import (
	"crypto/rand"
	"encoding/hex"
)

// NewExternalID returns an external id for the roles of one organisation.
//
// Every organisation's roles trust the same identity, ours. The external id in a
// role's trust policy is what keeps organisation B from having us read an
// account of organisation A by naming A's role (the confused deputy). So no two
// organisations may have the same one, and a role must ask for it.
func NewExternalID() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	return "vigil-" + hex.EncodeToString(random)
}
