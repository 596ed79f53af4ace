package sqldb

// Waiting returns the number of queued SQLite writers.
func (db *DB) Waiting() int {
	db.queue.mu.Lock()
	defer db.queue.mu.Unlock()
	return len(db.queue.waiting)
}
