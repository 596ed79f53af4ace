package heartbeat_test

import (
	"context"
	"testing"
	"time"

	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/store"
)

// revokingStore revokes all certificates of an agent as soon as one of them has been read.
type revokingStore struct{ *store.Store }

func (s revokingStore) Certificate(ctx context.Context, serial string) (heartbeat.Certificate, error) {
	c, err := s.Store.Certificate(ctx, serial)
	if err == nil {
		_, err = s.Revoke(ctx, c.Agent, time.Now())
	}
	return c, err
}

func TestRevocationDuringARenewalRefusesIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	f.service.Store = revokingStore{f.store}
	_, err := f.client(&c).Renew(t.Context())
	wantStatus(t, err, 401)
	all, err := f.store.Certificates(t.Context(), f.now())
	if err != nil || len(all) != 1 || all[0].RevokedAt.IsZero() {
		t.Errorf("certificates %+v, %v", all, err)
	}
}
