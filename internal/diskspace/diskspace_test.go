package diskspace

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var free int64
	var fails error
	w := New("/", 400<<20)
	w.now = func() time.Time { return now }
	w.free = func(string) (int64, error) { return free, fails }
	for _, tt := range []struct {
		mb     int64
		fails  error
		level  Level
		notice string
	}{
		{1000, nil, Enough, ""}, {400, nil, Enough, ""}, {399, nil, Low, "399 MB are free; events"}, {100, nil, Low, "low"},
		{99, nil, Critical, "changes are refused"}, {0, nil, Critical, "critical"}, {0, errors.New("no such disk"), Enough, ""}, {500, nil, Enough, ""},
	} {
		free, fails = tt.mb<<20, tt.fails
		now = now.Add(cacheTime)
		if got := w.Level(); got != tt.level || !strings.Contains(w.Notice(), tt.notice) || (tt.notice == "") != (w.Notice() == "") {
			t.Errorf("%d MB: %s, %q; want %s, %q", tt.mb, got, w.Notice(), tt.level, tt.notice)
		}
	}
	free = 0
	if w.Level() != Enough {
		t.Error("the free space was read again too soon")
	}
	if (*Watch)(nil).Level() != Enough || New("/", 0).Level() != Enough {
		t.Error("without a minimum there is always enough")
	}
	if n, err := freeBytes(t.TempDir()); err != nil || n <= 0 {
		t.Errorf("free bytes: %d, %v", n, err)
	}
}
