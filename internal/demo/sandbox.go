package demo

import (
	"log/slog"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
	"vigil/internal/telemetry"
)

// A Sandbox contains the simulated clouds of the demo without its servers, for
// trying resource types.
type Sandbox struct{ world *world }

// NewSandbox starts the simulated clouds and a reader with the given types.
func NewSandbox(types *resource.Catalog, log *slog.Logger) (*Sandbox, error) {
	w, err := newWorld(log, telemetry.NewRegistry(telemetry.ThisBuild("")), types)
	if err != nil {
		return nil, err
	}
	return &Sandbox{w}, nil
}

// Close stops the simulated clouds.
func (s *Sandbox) Close() { s.world.close() }

// Sources returns the collectors of the simulated clouds.
func (s *Sandbox) Sources() []collect.Source { return s.world.clouds.Sources() }

// Access returns the credential of a simulated account, or of the cloud's first
// account when the id is empty.
func (s *Sandbox) Access(p posture.Provider, id string) (posture.Access, error) {
	var ids []string
	for _, set := range s.world.sets {
		account := string(set.Links[0].Account)
		if set.Provider != p {
			continue
		}
		ids = append(ids, account)
		if id != "" && id != account {
			continue
		}
		credential, secrets, err := posture.NewCredential("demo", p, set.Credentials[0].Properties, time.Now())
		return posture.Access{
			Org: "demo", Account: posture.Account{ID: posture.AccountID(account), Provider: p}, Credential: credential, Secrets: secrets,
		}, err
	}
	return posture.Access{}, fault.New(fault.NotFound, "the simulated accounts of %s are %v, not %s", p, ids, id)
}
