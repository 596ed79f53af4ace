package model

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:embed services.bin
var services []byte

// An index locates the services in services.bin.
type index struct {
	Botocore   string              `json:"botocore"`
	Regions    map[string][]string `json:"regions"` // by partition
	Dictionary int                 `json:"dictionary"`
	Services   []indexEntry        `json:"services"`

	frames  map[string]func() (*Service, error)
	names   []string
	decoder *zstd.Decoder
}

// An indexEntry is a name and the length of its frame.
type indexEntry struct {
	name   string
	length int
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *indexEntry) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&e.name, &e.length})
}

// opened is the index, read on first use.
var opened = sync.OnceValues(func() (*index, error) {
	ix, err := open(services)
	if err != nil {
		return nil, fmt.Errorf("open the embedded models of AWS: %w", err)
	}
	return ix, nil
})

var errTruncated = errors.New("the file is truncated")

// open reads the index of services.bin. The file consists of the length of the index in four
// bytes, the compressed index, the dictionary, and one compressed frame for each service.
func open(file []byte) (*index, error) {
	cut := func(n int) ([]byte, error) {
		if n < 0 || n > len(file) {
			return nil, errTruncated
		}
		head := file[:n]
		file = file[n:]
		return head, nil
	}
	length, err := cut(4)
	if err != nil {
		return nil, err
	}
	head, err := cut(int(binary.BigEndian.Uint32(length)))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(head, nil)
	if err != nil {
		return nil, err
	}
	var ix index
	if err := json.Unmarshal(text, &ix); err != nil {
		return nil, err
	}
	dictionary, err := cut(ix.Dictionary)
	if err != nil {
		return nil, err
	}
	if ix.decoder, err = zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary), zstd.WithDecoderConcurrency(1)); err != nil {
		return nil, err
	}
	ix.frames = make(map[string]func() (*Service, error), len(ix.Services))
	for _, e := range ix.Services {
		frame, err := cut(e.length)
		if err != nil {
			return nil, err
		}
		ix.names = append(ix.names, e.name)
		ix.frames[e.name] = sync.OnceValues(func() (*Service, error) { return ix.service(e.name, frame) })
	}
	return &ix, nil
}

func (ix *index) service(name string, frame []byte) (*Service, error) {
	text, err := ix.decoder.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("open the model of %s: %w", name, err)
	}
	s := &Service{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the model of %s: %w", name, err)
	}
	return s, s.link(name)
}

// Version returns the version of botocore from which the models were generated.
func Version() string {
	ix, err := opened()
	if err != nil {
		return ""
	}
	return ix.Botocore
}

// Regions returns the regions of a partition that were known when the models were
// generated.
func Regions(partition string) []string {
	ix, err := opened()
	if err != nil {
		return nil
	}
	return slices.Clone(ix.Regions[partition])
}

// Services returns the sorted names of all services.
func Services() []string {
	ix, err := opened()
	if err != nil {
		return nil
	}
	return slices.Clone(ix.names)
}

// ErrUnknown is the error that there is no such service or operation.
var ErrUnknown = errors.New("unknown to AWS")

// Open returns a service. It fails with [ErrUnknown] when there is no such service.
func Open(service string) (*Service, error) {
	ix, err := opened()
	if err != nil {
		return nil, err
	}
	load, ok := ix.frames[service]
	if !ok {
		return nil, fmt.Errorf("service %q: %w", service, ErrUnknown)
	}
	return load()
}

// Operations returns the sorted names of the read operations of a service, or nil when
// there is no such service.
func Operations(service string) []string {
	s, err := Open(service)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Operations))
}

// Find returns an operation. It fails with [ErrUnknown] when there is no such operation.
func Find(service, operation string) (*Operation, error) {
	s, err := Open(service)
	if err != nil {
		return nil, err
	}
	op, ok := s.Operations[operation]
	if !ok {
		return nil, fmt.Errorf("operation %q of %s: %w", operation, service, ErrUnknown)
	}
	return op, nil
}
