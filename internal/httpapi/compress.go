package httpapi

import (
	"compress/gzip"
	"net/http"
	"sync"
)

// Shorter responses fit in one packet: they are sent uncompressed.
const compressFrom = 1 << 10

// mayCompress reports whether responses of a route may be compressed. The length
// of a compressed response depends on all of its text, so a caller who chooses a
// part of the text and sees the length can guess the rest (the BREACH attack).
// Responses with a secret are therefore never compressed, nor are those to
// changes, which may contain a new credential.
func (rt Route) mayCompress() bool { return !rt.mutates() && !rt.SecretAnswer }

// isCompressible reports whether a response may be compressed. Responses with a
// Content-Encoding of the handler may not, nor may those with an entity tag,
// which identifies the uncompressed bytes.
func isCompressible(p Reply, pieces Pieces, data []byte) bool {
	if p.Status != 0 && p.Status != http.StatusOK || p.Header.Get("Content-Encoding") != "" || p.Header.Get("ETag") != "" {
		return false
	}
	size := int64(len(data))
	if pieces != nil {
		size = pieces.Len()
	} else if kind := p.Header.Get("Content-Type"); kind != "" && kind != "application/json" {
		return false
	}
	return size >= compressFrom
}

// compressors keeps gzip writers, because a new one allocates about a megabyte.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// writeCompressed sends a body compressed with gzip's fastest level, without holding the
// compressed bytes in memory. Errors mean that the caller has closed the
// connection.
func (r *recorder) writeCompressed(pieces Pieces, data []byte) {
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(r)
	if pieces != nil {
		_, _ = pieces.WriteTo(w)
	} else {
		_, _ = w.Write(data)
	}
	_ = w.Close()
	w.Reset(nil) // do not keep the request alive
}
