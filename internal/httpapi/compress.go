package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
)

// Answers of this size are compressed. Shorter ones fit a packet as they are, and
// longer ones would take too much memory.
const (
	compressFrom = 1 << 10
	compressTo   = 16 << 20
)

// compressible reports whether an answer may be compressed: one that was encoded by
// its handler is not, and neither is one with an entity tag, which belongs to the
// bytes that are sent.
func compressible(p Reply, pieces Pieces, data []byte) bool {
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

// compress compresses a body quickly rather than well.
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
