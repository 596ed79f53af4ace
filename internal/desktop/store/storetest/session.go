package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/auth"
	"vigil/internal/desktop/session"
	"vigil/internal/fault"
)

func sessionsEndOnce(t *testing.T, s Store) {
	ctx := t.Context()
	v := session.Session{
		ID: "s1", User: session.User{DomainID: "d", Domain: "CORP", Name: "alice", SID: "S-1-5"},
		Source: "192.0.2.1", CreatedAt: now, ExpiresAt: after(8 * time.Hour),
	}
	must(t, s.AddSession(ctx, v))
	got, err := s.Session(ctx, "s1")
	must(t, err)
	if diff := cmp.Diff(v, got); diff != "" {
		t.Error(diff)
	}
	other := v
	other.ID, other.CreatedAt = "s2", after(time.Second)
	foreign := other
	foreign.ID, foreign.User.SID = "s3", "S-1-6"
	must(t, s.AddSession(ctx, other))
	must(t, s.AddSession(ctx, foreign))
	sessions, err := s.SessionsOf(ctx, "S-1-5")
	must(t, err)
	if diff := cmp.Diff([]session.Session{other, v}, sessions); diff != "" {
		t.Errorf("sessions of a user: %s", diff)
	}
	must(t, s.EndSession(ctx, "s2", after(time.Minute)))
	sessions, err = s.SessionsOf(ctx, "S-1-5")
	if err != nil || len(sessions) != 1 {
		t.Errorf("an ended session is listed: %v, %v", sessions, err)
	}
	must(t, s.EndSession(ctx, "s1", after(time.Minute)))
	wantKind(t, s.EndSession(ctx, "s1", after(time.Minute)), fault.NotFound)
	got, err = s.Session(ctx, "s1")
	must(t, err)
	if !got.EndedAt.Equal(after(time.Minute)) || got.Live(after(2*time.Minute)) {
		t.Errorf("an ended session is %+v", got)
	}
	must(t, s.ForgetSessions(ctx, after(time.Minute))) // no session ended before this time
	must(t, errorOf(s.Session(ctx, "s1")))
	must(t, s.ForgetSessions(ctx, after(2*time.Minute)))
	wantKind(t, errorOf(s.Session(ctx, "s1")), fault.NotFound)
}

func failuresCount(t *testing.T, s Store) {
	ctx := t.Context()
	failures, err := s.Failures(ctx, "bob", "eve")
	must(t, err)
	if diff := cmp.Diff([]session.Failures{{}, {}}, failures); diff != "" {
		t.Error(diff)
	}
	const window = 10 * time.Minute
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Minute, 2}, {10 * time.Minute, 3}, {20 * time.Minute, 1}, {21 * time.Minute, 2}} {
		f, err := s.AddFailure(ctx, "bob", after(tt.after), window)
		must(t, err)
		if diff := cmp.Diff(session.Failures{Count: tt.want, Last: after(tt.after)}, f); diff != "" {
			t.Errorf("after %s: %s", tt.after, diff)
		}
	}
	must(t, s.ForgetFailures(ctx, after(20*time.Minute)))
	if f, err := s.Failures(ctx, "eve", "bob"); err != nil || f[0].Count != 0 || f[1].Count != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	seen := map[string]session.Failures{"bob": {Count: 2, Last: after(21 * time.Minute)}, "eve": {Count: 1, Last: now}}
	for name, other := range map[string]session.Failures{
		"one was counted since": {Count: 1, Last: after(20 * time.Minute)},
		"another count":         {Count: 1, Last: after(21 * time.Minute)},
		"another time":          {Count: 2, Last: after(20 * time.Minute)},
	} {
		must(t, s.ClearFailures(ctx, map[string]session.Failures{"bob": other}))
		if f, err := s.Failures(ctx, "bob"); err != nil || f[0] != seen["bob"] {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	must(t, s.ClearFailures(ctx, seen))
	must(t, s.ClearFailures(ctx, seen))
	if f, err := s.Failures(ctx, "bob"); err != nil || f[0].Count != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

func failuresExact(t *testing.T, s Store) {
	for _, err := range concurrently(20, func(int) error {
		_, err := s.AddFailure(t.Context(), "bob", now, time.Minute)
		return err
	}) {
		must(t, err)
	}
	if f, err := s.Failures(t.Context(), "bob"); err != nil || f[0].Count != 20 {
		t.Errorf("20 concurrent failures count as %v, %v", f, err)
	}
}

func loginNetworks(t *testing.T, s Store) {
	ctx := t.Context()
	home := auth.LoginNetwork{Account: "user d alice", Network: "192.0.2.1"}
	office := auth.LoginNetwork{Account: "user d alice", Network: "2001:db8::/64"}
	must(t, s.AddLoginNetwork(ctx, home, now))
	must(t, s.AddLoginNetwork(ctx, office, after(time.Minute)))
	must(t, s.AddLoginNetwork(ctx, home, after(2*time.Minute)))
	all, err := s.LoginNetworks(ctx)
	must(t, err)
	if diff := cmp.Diff([]auth.LoginNetwork{home, office}, all); diff != "" {
		t.Error(diff)
	}
	must(t, s.ForgetLoginNetworks(ctx, after(2*time.Minute)))
	all, err = s.LoginNetworks(ctx)
	if err != nil || len(all) != 1 || all[0] != home {
		t.Errorf("after the older was forgotten: %v, %v", all, err)
	}
}

func keysByHash(t *testing.T, s Store) {
	ctx := t.Context()
	old := session.Key{ID: "k1", Name: "grafana", Hash: []byte{1}, Hint: "vigil_mon_AAAA", CreatedBy: "alice", CreatedAt: now}
	fresh := session.Key{ID: "k2", Name: "nagios", Hash: []byte{2}, Hint: "vigil_mon_BBBB", CreatedAt: after(time.Hour), ExpiresAt: after(2 * time.Hour), Limits: auth.TokenLimits{Addresses: "192.0.2.0/24"}}
	must(t, s.AddKey(ctx, old))
	must(t, s.AddKey(ctx, fresh))
	must(t, s.UseKey(ctx, "k1", after(time.Minute), "192.0.2.1"))
	old.LastUsedAt, old.LastAddress = after(time.Minute), "192.0.2.1"
	all, err := s.Keys(ctx)
	must(t, err)
	if diff := cmp.Diff([]session.Key{fresh, old}, all); diff != "" {
		t.Error(diff)
	}
	got, err := s.KeyByHash(ctx, []byte{2})
	must(t, err)
	if diff := cmp.Diff(fresh, got); diff != "" {
		t.Error(diff)
	}
	must(t, s.DeleteKey(ctx, "k2"))
	wantKind(t, s.DeleteKey(ctx, "k2"), fault.NotFound)
	wantKind(t, s.UseKey(ctx, "k2", now, ""), fault.NotFound)
	wantKind(t, errorOf(s.KeyByHash(ctx, []byte{2})), fault.NotFound)
}
