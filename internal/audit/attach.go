package audit

import "context"

// An Attachment is the record of a request that is not answered yet. It is
// committed with the first change that the request makes.
type Attachment struct {
	// Record returns what is known of the request. It reports false when no
	// record is wanted, because an earlier change took it along.
	Record func() (Record, bool)

	// Committed is called once record and change are on disk.
	Committed func()

	// Note adds a fact to the record.
	Note func(name, value string)
}

type attachmentKey struct{}

// Attach returns a context under which a change to the database commits the
// record with it: there is never one without the other.
func (l *Log) Attach(ctx context.Context, a Attachment) context.Context {
	return l.store.Attach(context.WithValue(ctx, attachmentKey{}, a), a, l.Chain, l.committed)
}

// Note adds a fact to the record of the request that ctx belongs to, such as the
// id of what is about to be created. It is never a secret. Call it before the
// change is written.
func Note(ctx context.Context, name, value string) {
	if a, ok := ctx.Value(attachmentKey{}).(Attachment); ok && a.Note != nil {
		a.Note(name, value)
	}
}

// Chain makes entries of records that follow head, for a store that appends them
// in a transaction of its own. Nobody else may append before that has ended.
func (l *Log) Chain(head Head, records []Record) ([]Entry, error) {
	for i := range records {
		l.complete(&records[i])
	}
	l.state.Lock()
	defer l.state.Unlock()
	if err := l.check(head); err != nil {
		return nil, err
	}
	l.seen = head
	entries, _, err := extend(head, records, l.key)
	return entries, err
}
