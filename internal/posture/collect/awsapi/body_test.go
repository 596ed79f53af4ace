package awsapi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBodiesOfEverySize(t *testing.T) {
	const size = len(chunk{})
	for _, n := range []int{0, 1, size - 1, size, size + 1, 3 * size, 3*size + 7} {
		want := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
		for name, reader := range map[string]io.Reader{
			"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want)), "EOF with the last bytes": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			b, err := readBody(reader)
			if err != nil {
				t.Fatal(err)
			}
			buffer := []byte("of an earlier response")
			if got := b.bytes(&buffer); !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes differ from the %d that were sent", name, len(got), n)
			}
			b.free()
		}
	}
}

// TestTruncatedBody reads a body whose connection ends early, within a chunk and at its end.
func TestTruncatedBody(t *testing.T) {
	for _, n := range []int{10, len(chunk{})} {
		cut := io.MultiReader(strings.NewReader(strings.Repeat("x", n)), iotest.ErrReader(io.ErrUnexpectedEOF))
		if b, err := readBody(cut); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a body that ends early after %d bytes gives %v, %v", n, b, err)
		}
	}
}
