package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
)

// Responses between these sizes are compressed. Shorter ones fit in one packet
// anyway, and longer ones would need too much memory.
const (
	compressFrom = 1 << 10
	compressTo   = 16 << 20
)

// isCompressible reports whether a response may be compressed. Responses that the
// handler encoded are not, nor are those with an entity tag, which identifies
// the uncompressed bytes.
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
	return size >= compressFrom && size <= compressTo
}

// compress compresses a body with gzip's fastest level.
func compress(pieces Pieces, data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if pieces != nil {
		_, err = pieces.WriteTo(w)
	} else {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
