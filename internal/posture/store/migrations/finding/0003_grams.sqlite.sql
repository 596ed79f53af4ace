-- Substrings of findings, by their grams: see finding_gram.go.
CREATE VIRTUAL TABLE finding_gram USING fts5 (grams, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii');
