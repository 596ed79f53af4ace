package audit

import "context"

// An Attachment provides the record of a request that is not answered yet. The record is
// committed with the first change that the request makes.
type Attachment struct {
	// Record returns the record as known now. It returns false when an earlier
	// change already committed it.
	Record func() (Record, bool)

	// Committed is called after record and change were committed.
	Committed func()

	// Note adds a fact to the record.
	Note func(name, value string)
}

type attachmentKey struct{}

// Attach returns a context in which a change to the database commits the record
// in the same transaction.
func (l *Log) Attach(ctx context.Context, a Attachment) context.Context {
	return l.store.Attach(context.WithValue(ctx, attachmentKey{}, a), a, l.Chain, l.onCommit)
}

// Note adds a fact to the record of the request that ctx belongs to, such as
// the id of an object that will be created. It must not be a secret. Call it
// before the change is written.
func Note(ctx context.Context, name, value string) {
	if a, ok := ctx.Value(attachmentKey{}).(Attachment); ok && a.Note != nil {
		a.Note(name, value)
	}
}

// Chain returns entries for records that follow head, for a store that appends
// them in its own transaction. No other entry may be appended before the
// transaction has ended. Chain does not record head as seen: if an earlier writer of the same
// transaction appended it, a rollback removes it too. Only onCommit records a head.
func (l *Log) Chain(head Head, records []Record) ([]Entry, error) {
	for i := range records {
		l.complete(&records[i])
	}
	l.state.Lock()
	defer l.state.Unlock()
	if err := l.check(head); err != nil {
		return nil, err
	}
	return extend(head, records, l.key)
}
