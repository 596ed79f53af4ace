package posture

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNameWords bounds the words of a name that a search by words compares.
const MaxNameWords = 12

// NameWords returns the words of a name that a search can find. A word begins at a letter
// or digit after any other character, or at a capital inside a run of letters and digits. Of
// consecutive capitals, only the first and one before a small letter begin a word:
// "AWSServiceRole-prod" has the words "AWSServiceRole", "ServiceRole", "Role" and "prod".
// Each word extends to the end of its run, so that "awsservice" is the beginning of a word
// too.
func NameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		found := 0
		for {
			start := strings.IndexFunc(name, isWordRune)
			if start < 0 {
				return
			}
			name = name[start:]
			end := strings.IndexFunc(name, func(r rune) bool { return !isWordRune(r) })
			if end < 0 {
				end = len(name)
			}
			run := name[:end]
			afterCapital := false
			for i, r := range run {
				capital := unicode.IsUpper(r)
				if i == 0 || capital && (!afterCapital || beginsSmall(run[i+utf8.RuneLen(r):])) {
					if found++; found > MaxNameWords || !yield(run[i:]) {
						return
					}
				}
				afterCapital = capital
			}
			name = name[end:]
		}
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func beginsSmall(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// SearchWords returns the words of a search text, case folded.
func SearchWords(text string) []string {
	return strings.FieldsFunc(Fold(text), func(r rune) bool { return !isWordRune(r) })
}

// hasNameWords reports whether each of the folded words is the beginning of a word of the
// name. A single character must be a whole word: it would match too many otherwise.
func hasNameWords(name string, words []string) bool {
	for _, w := range words {
		found := false
		for each := range NameWords(name) {
			each = Fold(each)
			if found = each == w || utf8.RuneCountInString(w) > 1 && strings.HasPrefix(each, w); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
