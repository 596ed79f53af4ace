package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

func account(id, sid, name string) desktop.InstantCloneAccount {
	return desktop.InstantCloneAccount{ID: desktop.ID(id), DomainSID: sid, Username: name, CreatedAt: now, UpdatedAt: now}
}

func accountsAreUnique(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddAccount(ctx, account("a", "S-1-1", "Clone"), []byte("x")))
	wantKind(t, s.AddAccount(ctx, account("b", "S-1-1", "cLONE"), []byte("x")), fault.Conflict)
	must(t, s.AddAccount(ctx, account("u", "S-1-1", "ÄPFEL"), []byte("x")))
	wantKind(t, s.AddAccount(ctx, account("v", "S-1-1", "äpfel"), []byte("x")), fault.Conflict)
	must(t, s.AddAccount(ctx, account("c", "S-1-2", "clone"), []byte("x")))
	all, err := s.Accounts(ctx)
	must(t, err)
	want := []desktop.InstantCloneAccount{account("a", "S-1-1", "Clone"), account("c", "S-1-2", "clone"), account("u", "S-1-1", "ÄPFEL")}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

func accountsKeepPasswords(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddAccount(ctx, account("a", "S-1-1", "clone"), []byte{0, 1, 2}))
	sealed, err := s.SealedPassword(ctx, "a")
	must(t, err)
	if diff := cmp.Diff([]byte{0, 1, 2}, sealed); diff != "" {
		t.Error(diff)
	}
	must(t, s.ChangePassword(ctx, "a", []byte("new"), after(time.Hour)))
	got, err := s.Account(ctx, "a")
	must(t, err)
	want := account("a", "S-1-1", "clone")
	want.UpdatedAt = after(time.Hour)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	must(t, s.RemoveAccount(ctx, "a"))
	for _, err := range []error{
		s.RemoveAccount(ctx, "a"),
		s.ChangePassword(ctx, "a", nil, now),
		errorOf(s.Account(ctx, "a")),
		errorOf(s.SealedPassword(ctx, "a")),
	} {
		wantKind(t, err, fault.NotFound)
	}
}

// errorOf returns the error of a call with two results.
func errorOf[T any](_ T, err error) error { return err }

func change(offset time.Duration, kind desktop.Kind, id, to string) desktop.Change {
	return desktop.Change{
		At: after(offset), Ref: desktop.Ref{Kind: kind, ID: desktop.ID(id), Name: "name of " + id},
		Part: "part", From: "OK", To: to, Reasons: []string{"because"},
	}
}

func changesInPages(t *testing.T, s Store) {
	ctx := t.Context()
	var want []desktop.Change
	for i := range 5 {
		c := change(time.Duration(i)*time.Minute, desktop.KindGateway, "g", string(rune('A'+i)))
		want = append([]desktop.Change{c}, want...)
		must(t, s.AppendChanges(ctx, []desktop.Change{c}))
	}
	must(t, s.AppendChanges(ctx, nil))
	var got []desktop.Change
	f := desktop.ChangeFilter{Limit: 2}
	for pages := 1; ; pages++ {
		page, next, err := s.Changes(ctx, f)
		must(t, err)
		got = append(got, page...)
		if next == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		f.After = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func changesFiltered(t *testing.T, s Store) {
	ctx := t.Context()
	all := []desktop.Change{
		change(0, desktop.KindGateway, "g1", "STALE"),
		change(time.Minute, desktop.KindGateway, "g2", "STALE"),
		change(2*time.Minute, desktop.KindFarm, "f1", "ERROR"),
	}
	must(t, s.AppendChanges(ctx, all))
	for _, tt := range []struct {
		name   string
		filter desktop.ChangeFilter
		want   []int
	}{
		{"all", desktop.ChangeFilter{}, []int{2, 1, 0}},
		{"kind", desktop.ChangeFilter{Kind: desktop.KindGateway}, []int{1, 0}},
		{"component", desktop.ChangeFilter{Kind: desktop.KindGateway, ID: "g1"}, []int{0}},
		{"since", desktop.ChangeFilter{Since: after(time.Minute)}, []int{2, 1}},
		{"until", desktop.ChangeFilter{Until: after(time.Minute)}, []int{0}},
	} {
		got, _, err := s.Changes(ctx, tt.filter)
		must(t, err)
		want := []desktop.Change{}
		for _, i := range tt.want {
			want = append(want, all[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// changesForgotten checks that the newest change of every component and part that still exists is kept: after a restart,
// the server reads their last status from it.
func changesForgotten(t *testing.T, s Store) {
	ctx := t.Context()
	all := []desktop.Change{
		change(0, desktop.KindGateway, "g1", "STALE"),
		change(time.Minute, desktop.KindGateway, "g1", "OK"),
		change(2*time.Minute, desktop.KindGateway, "g1", "OK"),
		change(3*time.Minute, desktop.KindGateway, "g2", "STALE"),
		change(4*time.Minute, desktop.KindFarm, "g1", "ERROR"),
		change(5*time.Minute, desktop.KindGateway, "gone", "OK"),
		change(6*time.Minute, desktop.KindGateway, "g2", "OK"),
		change(7*time.Minute, desktop.KindGateway, "gone too", "OK"),
	}
	all[2].Part = "another part"
	must(t, s.AppendChanges(ctx, all))
	last, err := s.LastStatuses(ctx)
	must(t, err)
	exists := func(_ desktop.Kind, id desktop.ID) bool { return id == "g1" || id == "g2" }
	for _, tt := range []struct {
		before time.Duration
		want   []int
	}{
		{0, []int{7, 6, 5, 4, 3, 2, 1, 0}},
		{2 * time.Minute, []int{7, 6, 5, 4, 3, 2, 1}},
		{6 * time.Minute, []int{7, 6, 4, 2, 1}},
		{time.Hour, []int{6, 4, 2, 1}},
		{time.Hour, []int{6, 4, 2, 1}}, // a second call deletes nothing more
	} {
		must(t, s.ForgetChanges(ctx, after(tt.before), exists))
		remaining, _, err := s.Changes(ctx, desktop.ChangeFilter{})
		must(t, err)
		want := []desktop.Change{}
		for _, i := range tt.want {
			want = append(want, all[i])
		}
		if diff := cmp.Diff(want, remaining); diff != "" {
			t.Errorf("%s: %s", tt.before, diff)
		}
	}
	want := slices.DeleteFunc(last, func(l desktop.LastStatus) bool { return !exists(l.Kind, l.ID) })
	kept, err := s.LastStatuses(ctx)
	must(t, err)
	byStart := func(a, b desktop.LastStatus) int { return a.Since.Compare(b.Since) }
	slices.SortFunc(want, byStart)
	slices.SortFunc(kept, byStart)
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
}

func changesSearched(t *testing.T, s Store) {
	ctx := t.Context()
	all := []desktop.Change{
		change(0, desktop.KindGateway, "g1", "STALE"),
		change(time.Minute, desktop.KindGateway, "g2", "PROBLEM"),
		change(2*time.Minute, desktop.KindFarm, "f1", "ERROR"),
	}
	all[0].Reasons = []string{"it has been silent, 100% of the time: Überlast", `it does not offer the template R&D "Logon" of C:\new <\u0041>`}
	all[1].Reasons = []string{"zone\x00zone"}
	all[2].Reasons = nil
	all[1].Cause = desktop.Ref{Kind: desktop.KindFarm, ID: "f1", Name: "Farm One"}
	must(t, s.AppendChanges(ctx, all))
	for _, tt := range []struct {
		name   string
		filter desktop.ChangeFilter
		want   []int
	}{
		{"one status", desktop.ChangeFilter{Statuses: []string{"STALE"}}, []int{0}},
		{"two statuses", desktop.ChangeFilter{Statuses: []string{"STALE", "ERROR"}}, []int{2, 0}},
		{"a reason", desktop.ChangeFilter{Text: "SILENT"}, []int{0}},
		{"a percent sign is no wildcard", desktop.ChangeFilter{Text: "0%"}, []int{0}},
		{"an underscore is no wildcard", desktop.ChangeFilter{Text: "0_"}, []int{}},
		{"letters that are not ASCII", desktop.ChangeFilter{Text: "Überlast"}, []int{0}},
		{"an ampersand", desktop.ChangeFilter{Text: "r&d"}, []int{0}},
		{"the character U+0000, which PostgreSQL cannot store", desktop.ChangeFilter{Text: "ZONE"}, []int{1}},
		{"quotes", desktop.ChangeFilter{Text: `"LOGON"`}, []int{0}},
		{"a backslash", desktop.ChangeFilter{Text: `c:\NEW`}, []int{0}},
		{"angle brackets", desktop.ChangeFilter{Text: `<\U0041>`}, []int{0}},
		{"an escape sequence of JSON", desktop.ChangeFilter{Text: "u0026"}, []int{}},
		{"brackets of JSON", desktop.ChangeFilter{Text: "["}, []int{}},
		{"two reasons", desktop.ChangeFilter{Text: "berlast\",\"it"}, []int{}},
		{"no reasons", desktop.ChangeFilter{Text: "null"}, []int{}},
		{"the cause", desktop.ChangeFilter{Text: "farm one"}, []int{1}},
		{"the name and the part", desktop.ChangeFilter{Text: "g1 part"}, []int{0}},
	} {
		got, _, err := s.Changes(ctx, tt.filter)
		must(t, err)
		want := []desktop.Change{}
		for _, i := range tt.want {
			want = append(want, all[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func changesGrouped(t *testing.T, s Store) {
	ctx := t.Context()
	cause := desktop.Ref{Kind: desktop.KindFarm, ID: "f1", Name: "farm"}
	var all []desktop.Change
	for i := range 6 {
		c := change(time.Duration(i)*20*time.Minute, desktop.KindGateway, "g", string(rune('A'+i)))
		c.Cause, c.Group = cause, []string{"1", "2", "3"}[i/2]
		all = append(all, c)
	}
	must(t, s.AppendChanges(ctx, all))
	group := func(id string, changes ...desktop.Change) desktop.ChangeGroup {
		return desktop.ChangeGroup{ID: id, Cause: cause, Changes: changes}
	}
	page, next, err := s.ChangeGroups(ctx, desktop.ChangeFilter{Limit: 2})
	must(t, err)
	if diff := cmp.Diff([]desktop.ChangeGroup{group("3", all[4], all[5]), group("2", all[2], all[3])}, page); diff != "" || next != "2" {
		t.Errorf("first page, next %q: %s", next, diff)
	}
	page, next, err = s.ChangeGroups(ctx, desktop.ChangeFilter{Limit: 2, After: next})
	must(t, err)
	if diff := cmp.Diff([]desktop.ChangeGroup{group("1", all[0], all[1])}, page); diff != "" || next != "" {
		t.Errorf("last page, next %q: %s", next, diff)
	}
	page, _, err = s.ChangeGroups(ctx, desktop.ChangeFilter{Statuses: []string{"D"}})
	must(t, err)
	if diff := cmp.Diff([]desktop.ChangeGroup{group("2", all[2], all[3])}, page); diff != "" {
		t.Errorf("a group is not whole: %s", diff)
	}
	last, err := s.LastStatuses(ctx)
	must(t, err)
	want := []desktop.LastStatus{{Kind: desktop.KindGateway, ID: "g", Part: "part", Status: "F", Since: after(100 * time.Minute)}}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("last statuses: %s", diff)
	}
}
