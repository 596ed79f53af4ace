package sqldb

// Waiting returns how many writers wait for their turn on SQLite.
func (db *DB) Waiting() int {
	db.line.mu.Lock()
	defer db.line.mu.Unlock()
	return len(db.line.waiting)
}
