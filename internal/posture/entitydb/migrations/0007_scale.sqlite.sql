-- Segments of the index are merged eight at a time instead of four: a first
-- collection writes many of them, and almost half of its index's time went into
-- merging.
INSERT INTO entity_token (entity_token, rank) VALUES ('automerge', 8);
