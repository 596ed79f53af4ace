package session

import (
	"crypto/sha256"
	"testing"
	"time"
)

func TestTokenThatEndsDuringValidationIsNotCached(t *testing.T) {
	t.Parallel()
	c := newCache()
	now := time.Now()
	sum := sha256.Sum256([]byte("token"))
	k := validatedToken{caller: Caller{ID: "s1"}, checked: now, expires: now.Add(time.Hour)}

	before := c.endedSessions()
	c.end("s1") // a logout between validation and caching
	c.put(sum, k, before)
	if _, ok := c.get(sum, now); ok {
		t.Error("a token whose session has ended is cached")
	}

	c.put(sum, k, c.endedSessions())
	for _, tt := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {recheck - 1, true}, {recheck, false}} {
		if _, ok := c.get(sum, now.Add(tt.after)); ok != tt.want {
			t.Errorf("after %s the token is cached: %v, want %v", tt.after, ok, tt.want)
		}
	}
	c.end("s1")
	if _, ok := c.get(sum, now); ok {
		t.Error("an ended session is cached")
	}
}
