package posture

import (
	"crypto/rand"
	"encoding/hex"
)

// NewExternalID returns an external id for the roles of one organisation.
//
// Every organisation's roles trust the same AWS identity, that of this server. Without
// an external id in a role's trust policy, organisation B could make the server read an
// account of organisation A by naming A's role (the confused deputy problem). So
// external ids are unique per organisation, and a role must require one.
func NewExternalID() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	return "vigil-" + hex.EncodeToString(random)
}
