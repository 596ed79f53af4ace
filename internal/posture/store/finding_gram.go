package store

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/sqldb"
)

// gramLen is the length of n-grams. Trigrams, which are usual, are not selective enough
// for names that end in numbers: most contain "000", so that the cost of a search would
// grow with the number of findings.
const gramLen = 5

// indexGrams indexes findings. Each row has the number of a finding and its text, which
// indexGrams replaces by the n-grams of the text.
func indexGrams(tx *sqldb.Tx, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		row[1] = gramText(row[1].(string))
	}
	statement := `INSERT INTO finding_gram (n, grams) VALUES ($1, $2::text::tsvector) ON CONFLICT (n) DO UPDATE SET grams = excluded.grams`
	if tx.Dialect() == sqldb.SQLite {
		statement = `INSERT OR REPLACE INTO finding_gram (rowid, grams) VALUES ($1, $2)`
	}
	_, err := tx.ExecEach(statement, slices.Values(rows))
	return err
}

// gramText returns the n-grams of a text, hex-encoded, so that every full-text index
// accepts them as words. The last ones are shorter than gramLen.
func gramText(text string) string {
	runes := []rune(text)
	out := make([]byte, 0, len(text)*(2*gramLen+1))
	for i := range runes {
		out = hex.AppendEncode(out, []byte(string(runes[i:min(len(runes), i+gramLen)])))
		out = append(out, ' ')
	}
	return string(out)
}

// minIndexed is the length of the shortest substring that textTerm looks up in the index.
const minIndexed = 3

// textTerm returns the condition that the text of a finding contains a substring, and appends
// the arguments of the condition to args. The index preselects rows, and LIKE checks them.
func textTerm(tx *sqldb.Tx, args *[]any, text string) string {
	*args = append(*args, "%"+strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text)+"%")
	condition := fmt.Sprintf(`words LIKE $%d ESCAPE '\'`, len(*args))
	runes := []rune(text)
	if len(runes) < minIndexed {
		return condition
	}
	if tx.Dialect() == sqldb.SQLite {
		*args = append(*args, gramQuery(runes, " AND ", "*"))
		return fmt.Sprintf("n IN (SELECT rowid FROM finding_gram WHERE finding_gram MATCH $%d) AND %s", len(*args), condition)
	}
	*args = append(*args, gramQuery(runes, " & ", ":*"))
	return fmt.Sprintf("n IN (SELECT n FROM finding_gram WHERE grams @@ $%d::text::tsquery) AND %s", len(*args), condition)
}

// gramQuery returns the full-text query for all n-grams of a text, joined by the operator. If
// the text is shorter than gramLen, it returns a prefix query: the text and prefixMark.
func gramQuery(text []rune, operator, prefixMark string) string {
	encode := func(gram []rune) string { return hex.EncodeToString([]byte(string(gram))) }
	if len(text) < gramLen {
		return encode(text) + prefixMark
	}
	var parts []string
	for i := range len(text) - gramLen + 1 {
		if part := encode(text[i : i+gramLen]); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, operator)
}
