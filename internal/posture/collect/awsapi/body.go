package awsapi

import (
	"io"
	"slices"
	"sync"

	"vigil/internal/posture/collect/awsapi/wire"
)

// A body is the body of a response in chunks. Bodies of several megabytes arrive at the
// speed of the network, many at a time. Chunks take as much memory as has arrived; a
// contiguous buffer would double its size again and again, because AWS does not state the
// length of long responses.
type body struct {
	chunks []*chunk
	size   int
}

type chunk [32 << 10]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// readBody reads a body. Of a body that is too large, it reads one byte more than the decoder
// accepts, so the decoder rejects it. The caller must free the body.
func readBody(from io.Reader) (*body, error) {
	b := new(body)
	from = io.LimitReader(from, wire.MaxSize+1)
	for {
		if b.size == len(b.chunks)*len(chunk{}) {
			b.chunks = append(b.chunks, chunks.Get().(*chunk))
		}
		n, err := from.Read(b.chunks[len(b.chunks)-1][b.size%len(chunk{}):])
		b.size += n
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			b.free()
			return nil, err
		}
	}
}

// bytes returns the body as one slice, which is valid until the body is freed or the buffer
// changes. A body that fits in one chunk is not copied.
func (b *body) bytes(buffer *[]byte) []byte {
	if len(b.chunks) == 1 {
		return b.chunks[0][:b.size]
	}
	*buffer = slices.Grow((*buffer)[:0], b.size)
	for i, c := range b.chunks {
		*buffer = append(*buffer, c[:min(len(c), b.size-i*len(c))]...)
	}
	return *buffer
}

func (b *body) free() {
	for _, c := range b.chunks {
		chunks.Put(c)
	}
	*b = body{}
}

// A scratch holds the buffers for decoding one response. Decoded responses are copied out of it,
// because their size is not known before and is often a fraction of that of the body.
type scratch struct{ body, decoded []byte }

// Most responses are small. They have a pool of their own: otherwise each of many concurrent calls
// could hold a scratch that a large response has grown to megabytes.
var smallScratches, scratches = scratchPool(), scratchPool()

func scratchPool() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

// maxPooled is the maximum size in bytes of the buffers that are reused.
const maxPooled = 8 << 20

// scratch returns buffers for decoding the body, and a function that frees them and the body.
func (b *body) scratch() (s *scratch, free func()) {
	pool := scratches
	if len(b.chunks) == 1 {
		pool = smallScratches
	}
	s = pool.Get().(*scratch)
	return s, func() {
		b.free()
		if cap(s.body)+cap(s.decoded) <= maxPooled {
			pool.Put(s)
		}
	}
}
