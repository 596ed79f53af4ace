package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
)

var gateway = heartbeat.Agent{Kind: desktop.KindGateway, ID: "g1"}

func certificate(serial string, a heartbeat.Agent) heartbeat.Certificate {
	return heartbeat.Certificate{Serial: serial, Agent: a, NotBefore: now, NotAfter: after(30 * 24 * time.Hour)}
}

// enrol stores the first certificate of an agent.
func enrol(t *testing.T, s Store, c heartbeat.Certificate) {
	t.Helper()
	token := heartbeat.Token{ID: "for " + c.Serial, Hash: []byte(c.Serial), Agent: c.Agent, CreatedAt: now, ExpiresAt: after(time.Hour)}
	must(t, s.AddToken(t.Context(), token))
	must(t, s.Redeem(t.Context(), token.ID, now, c))
	must(t, s.DeleteToken(t.Context(), token.ID))
}

func authorityIsKept(t *testing.T, s Store) {
	ctx := t.Context()
	wantKind(t, errorOf(s.Authority(ctx)), fault.NotFound)
	first := heartbeat.Keys{Certificate: []byte("certificate"), Key: []byte("key")}
	stored, err := s.KeepAuthority(ctx, first)
	must(t, err)
	if diff := cmp.Diff(first, stored); diff != "" {
		t.Error(diff)
	}
	stored, err = s.KeepAuthority(ctx, heartbeat.Keys{Certificate: []byte("other"), Key: []byte("other")})
	must(t, err)
	if diff := cmp.Diff(first, stored); diff != "" {
		t.Errorf("a second authority: %s", diff)
	}
}

func tokenIsRedeemedOnce(t *testing.T, s Store) {
	ctx := t.Context()
	token := heartbeat.Token{ID: "t1", Hash: []byte("h"), Agent: gateway, CreatedBy: "alice", CreatedAt: now, ExpiresAt: after(time.Hour)}
	must(t, s.AddToken(ctx, token))
	got, err := s.TokenByHash(ctx, []byte("h"))
	must(t, err)
	if diff := cmp.Diff(token, got); diff != "" {
		t.Error(diff)
	}
	enrol(t, s, certificate("old", gateway))
	verdicts, err := s.Record(ctx, []heartbeat.Beat{beat("old", 1000)})
	must(t, err)
	if verdicts[0] != heartbeat.Accepted {
		t.Error("the first beat is not accepted")
	}
	won := 0
	for _, err := range concurrently(8, func(i int) error {
		return s.Redeem(ctx, "t1", after(time.Minute), certificate(fmt.Sprint("new", i), gateway))
	}) {
		if err == nil {
			won++
		} else {
			wantKind(t, err, fault.Conflict)
		}
	}
	if won != 1 {
		t.Errorf("%d of 8 redeemed one token", won)
	}
	verdicts, err = s.Record(ctx, []heartbeat.Beat{beat("old", 2000)})
	must(t, err)
	if verdicts[0] != heartbeat.Revoked {
		t.Error("the certificate from before the enrolment is still valid")
	}
	wantKind(t, errorOf(s.LastBeat(ctx, gateway)), fault.NotFound)
	all, err := s.Tokens(ctx)
	must(t, err)
	token.UsedAt = after(time.Minute)
	if diff := cmp.Diff([]heartbeat.Token{token}, all); diff != "" {
		t.Error(diff)
	}
	must(t, s.DeleteToken(ctx, "t1"))
	wantKind(t, s.DeleteToken(ctx, "t1"), fault.NotFound)
	wantKind(t, errorOf(s.TokenByHash(ctx, []byte("h"))), fault.NotFound)
}

func beat(serial string, sequence int64) heartbeat.Beat {
	return heartbeat.Beat{
		Agent: gateway, Serial: serial, Sequence: sequence, At: after(time.Duration(sequence) * time.Millisecond),
		Payload: fmt.Appendf(nil, `{"version":"%d"}`, sequence),
	}
}

func beatSequenceIncreases(t *testing.T, s Store) {
	ctx := t.Context()
	enrol(t, s, certificate("c1", gateway))
	must(t, s.Renew(ctx, "c1", certificate("c2", gateway)))
	for _, tt := range []struct {
		serial   string
		sequence int64
		want     heartbeat.Verdict
	}{
		{"c1", 10, heartbeat.Accepted},
		{"c1", 10, heartbeat.Replayed},
		{"c1", 9, heartbeat.Replayed},
		{"c2", 10, heartbeat.Replayed},
		{"c2", 11, heartbeat.Accepted},
	} {
		verdicts, err := s.Record(ctx, []heartbeat.Beat{beat(tt.serial, tt.sequence)})
		must(t, err)
		if verdicts[0] != tt.want {
			t.Errorf("%s %d: %d, want %d", tt.serial, tt.sequence, verdicts[0], tt.want)
		}
	}
	last, err := s.LastBeat(ctx, gateway)
	must(t, err)
	all, err := s.Beats(ctx)
	must(t, err)
	if diff := cmp.Diff([]heartbeat.Beat{beat("c2", 11)}, all); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(beat("c2", 11), last); diff != "" {
		t.Error(diff)
	}
}

func revokedCertificatesSendNoBeats(t *testing.T, s Store) {
	ctx := t.Context()
	other := heartbeat.Agent{Kind: desktop.KindRDSServer, ID: "g1"}
	enrol(t, s, certificate("c1", gateway))
	enrol(t, s, certificate("c2", other))
	verdicts, err := s.Record(ctx, []heartbeat.Beat{beat("unknown", 1), beat("c2", 1), beat("c1", 1)})
	must(t, err)
	want := []heartbeat.Verdict{heartbeat.Revoked, heartbeat.Revoked, heartbeat.Accepted} // c2 is valid, but it belongs to the other agent
	if !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
	n, err := s.Revoke(ctx, gateway, after(time.Minute))
	must(t, err)
	repeated, err := s.Revoke(ctx, gateway, after(time.Minute))
	must(t, err)
	if n != 1 || repeated != 0 {
		t.Errorf("%d revoked, then %d", n, repeated)
	}
	verdicts, err = s.Record(ctx, []heartbeat.Beat{beat("c1", 2)})
	must(t, err)
	if verdicts[0] != heartbeat.Revoked {
		t.Errorf("a beat after the revocation: %d", verdicts[0])
	}
	revoked := certificate("c1", gateway)
	revoked.RevokedAt = after(time.Minute)
	all, err := s.Certificates(ctx, now)
	must(t, err)
	if diff := cmp.Diff([]heartbeat.Certificate{revoked, certificate("c2", other)}, all); diff != "" {
		t.Error(diff)
	}
	got, err := s.Certificate(ctx, "c1")
	must(t, err)
	if diff := cmp.Diff(revoked, got); diff != "" {
		t.Error(diff)
	}
	wantKind(t, errorOf(s.Certificate(ctx, "unknown")), fault.NotFound)
}

func beatIsAcceptedOnce(t *testing.T, s Store) {
	ctx := t.Context()
	enrol(t, s, certificate("c1", gateway))
	accepted := 0
	for _, v := range concurrently(8, func(int) heartbeat.Verdict {
		verdicts, err := s.Record(ctx, []heartbeat.Beat{beat("c1", 5)})
		if err != nil {
			t.Error(err)
			return heartbeat.Revoked
		}
		return verdicts[0]
	}) {
		if v == heartbeat.Accepted {
			accepted++
		}
	}
	if accepted != 1 {
		t.Errorf("one beat sent 8 times was accepted %d times", accepted)
	}
}

func revokedCertificatesAreNotRenewed(t *testing.T, s Store) {
	ctx := t.Context()
	enrol(t, s, certificate("c0", gateway))
	wantKind(t, s.Renew(ctx, "unknown", certificate("c1", gateway)), fault.Conflict)
	// A stolen certificate that is renewed during the revocation does not survive it.
	for _, err := range concurrently(16, func(i int) error {
		if i == 8 {
			_, err := s.Revoke(ctx, gateway, after(time.Minute))
			return err
		}
		return s.Renew(ctx, "c0", certificate(fmt.Sprint("renewed", i), gateway))
	}) {
		if err != nil {
			wantKind(t, err, fault.Conflict)
		}
	}
	wantKind(t, s.Renew(ctx, "c0", certificate("late", gateway)), fault.Conflict)
	all, err := s.Certificates(ctx, now)
	must(t, err)
	for _, c := range all {
		if c.RevokedAt.IsZero() {
			t.Errorf("certificate %s is valid after the revocation", c.Serial)
		}
	}
}
