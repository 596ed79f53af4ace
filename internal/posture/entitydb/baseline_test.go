package entitydb

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/crypto/blake2b"
)

// TestBaseline reads lists that fit in memory and lists that spill to a file: in order,
// by id, and the entries that were not marked as seen.
func TestBaseline(t *testing.T) {
	t.Parallel()
	nth := func(i int) baselineEntry {
		sum := blake2b.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(i)))
		return baselineEntry{entry{digest(sum[:16]), digest(sum[16:])}, int64(i) << memberBits}
	}
	for _, count := range []int{0, 1, baselineWindow, 999, 1000, 1001, 3333} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			l := baseline{limit: 1000}
			defer l.close()
			for i := range count {
				if err := l.add(nth(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.ready(); err != nil {
				t.Fatal(err)
			}
			if inFile := l.file != nil; inFile != (count >= 1000) {
				t.Errorf("%d entries: spilled to a file: %v", count, inFile)
			}
			for i := range count {
				if k, err := l.entryAt(i); err != nil || k != nth(i) {
					t.Fatalf("the entry at %d is %v, %v; want %v", i, k, err, nth(i))
				}
			}
			for i := range count {
				want := count - 1 - i
				if index, ok, err := l.find(nth(want).id); err != nil || !ok || index != want {
					t.Fatalf("%d is at %d, %v, %v", want, index, ok, err)
				}
				if _, ok, err := l.find(nth(count + i).id); err != nil || ok {
					t.Fatalf("found %d, which was not added: %v", count+i, err)
				}
			}
			for i := 0; i < count; i += 3 {
				l.markSeen(i)
				l.markSeen(i) // must not be counted again
			}
			if want := count - (count+2)/3; l.unseen != want {
				t.Errorf("%d are unseen, want %d", l.unseen, want)
			}
			i := 0
			err := l.all(func(k baselineEntry, seen bool) {
				if k != nth(i) || seen != (i%3 == 0) {
					t.Errorf("the entry at %d is %v, seen %v; want %v, seen %v", i, k, seen, nth(i), i%3 == 0)
				}
				i++
			})
			if err != nil || i != count {
				t.Errorf("read %d of %d entries, error %v", i, count, err)
			}
		})
	}
}

// TestNewEntitiesWithSimilarIDs stages entities whose ids share the first 32 bits of
// their hash, some of them twice.
func TestNewEntitiesWithSimilarIDs(t *testing.T) {
	t.Parallel()
	r := recording{fresh: map[uint32]struct{}{}, repeated: map[digest]bool{}, stage: stage{limit: stageMemory}}
	for _, last := range []byte{1, 2, 1, 3, 2} {
		if err := r.putNew(stagedEntity{id: digest{7, 7, 7, 7, last}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []byte
	for s, err := range r.stage.all() {
		if err != nil {
			t.Fatal(err)
		}
		if !r.markWritten(s) {
			got = append(got, s.id[4])
		}
	}
	if string(got) != "\x01\x02\x03" {
		t.Errorf("wrote %v", got)
	}
}
