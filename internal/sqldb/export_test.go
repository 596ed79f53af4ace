package sqldb

// Waiting returns how many writers wait for their turn on SQLite.
func (db *DB) Waiting() int {
	db.queue.mu.Lock()
	defer db.queue.mu.Unlock()
	return len(db.queue.waiting)
}
