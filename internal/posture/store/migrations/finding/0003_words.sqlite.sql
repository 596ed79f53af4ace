-- Substrings of findings, by their trigrams.
CREATE VIRTUAL TABLE finding_words USING fts5 (words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'trigram');
