package collect

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// A page is a page of a response in a cache. All but small pages are compressed: the cached lists
// of an account of 200,000 resources take about a hundred megabytes otherwise.
type page struct {
	text       gjson.Result // used if compressed is nil
	compressed []byte
}

// minCompressed is the size in bytes from which a page is compressed.
const minCompressed = 8 << 10

var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10)) // fails only for wrong options
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
)

func newPage(answer gjson.Result) page {
	if len(answer.Raw) < minCompressed {
		return page{text: answer}
	}
	compressed := compressor.EncodeAll([]byte(answer.Raw), nil)
	return page{compressed: bytes.Clone(compressed)} // EncodeAll allocates as much as the uncompressed page
}

// result returns the content of the page.
func (p page) result() gjson.Result {
	if p.compressed == nil {
		return p.text
	}
	text, err := decompressor.DecodeAll(p.compressed, nil)
	if err != nil {
		panic("collect: a page that newPage compressed cannot be decompressed: " + err.Error())
	}
	return gjson.ParseBytes(text)
}

// bytes returns the size of the page in memory.
func (p page) bytes() int { return len(p.text.Raw) + len(p.compressed) }

// resultsOf returns the contents of pages.
func resultsOf(pages []page) []gjson.Result {
	results := make([]gjson.Result, len(pages))
	for i, p := range pages {
		results[i] = p.result()
	}
	return results
}
