package collect

import (
	"context"
	"sync"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// Answers keeps the answers of calls that several types of one collection run
// need, so that each call is made once. A failed call is made again.
type Answers struct {
	mu  sync.Mutex
	all map[string]*kept
}

type kept struct {
	mu    sync.Mutex // held while the call is made
	done  bool
	pages []gjson.Result
}

// NewAnswers returns the answers of a run that begins.
func NewAnswers() *Answers { return &Answers{all: map[string]*kept{}} }

// pages passes on the pages of a call, which is made by the first who asks.
func (a *Answers) pages(ctx context.Context, r *Reader, q *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	key := r.Context.Region + " " + address + " " + string(input)
	a.mu.Lock()
	k, ok := a.all[key]
	if !ok {
		k = new(kept)
		a.all[key] = k
	}
	a.mu.Unlock()
	all, err := k.read(ctx, r, q, address, input)
	if err != nil {
		return err
	}
	for _, answer := range all {
		if err := page(answer); err != nil {
			return err
		}
	}
	return nil
}

func (k *kept) read(ctx context.Context, r *Reader, q *resource.Request, address string, input []byte) ([]gjson.Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done {
		return k.pages, nil
	}
	var pages []gjson.Result
	err := r.Transport.Pages(ctx, q, address, input, func(answer gjson.Result) error {
		pages = append(pages, answer)
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.done, k.pages = true, pages
	return pages, nil
}
