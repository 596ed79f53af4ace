package archtest

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// privateWords are words that this project once used for things that have a known
// name: the value is that name. Neither comments nor documents nor the console use them.
var privateWords = map[string]string{
	"anew":     "again",
	"ekey":     "idHash",
	"fortress": "server under attack",
	"heed":     "updateStatus",
	"homely":   "contextTokens",
	"knowns":   "baseline",
	"leftover": "deferred",
	"likeness": "tokenGroup",
	"nudge":    "wake",
	"siege":    "attack, hostile client",
	"teller":   "resultBuilder",
	"twig":     "treeNode",
	"whoever":  "the process, caller or user",
}

// privateNames are words that are not part of the names of types, functions,
// variables and files, for the same reason. Comments may use them in their usual
// sense.
var privateNames = map[string]string{
	"bomb":     "hostile query",
	"bombs":    "hostile queries",
	"courier":  "publisher",
	"court":    "fixture",
	"desk":     "fixture",
	"fortress": "server under attack",
	"rage":     "fault plan",
	"rig":      "fixture",
	"siege":    "attack, hostile client",
	"storm":    "load",
	"tend":     "maintain",
}

// privateKeys are keys that the files of rules, tables and resource types once had.
var privateKeys = map[string]string{
	"ends": "endOfSupport",
	"says": "description",
	"some": "notEmpty",
}

func TestCommentsUseKnownWords(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if f.pkg == "internal/archtest" {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, word := range wordsOf(group.Text()) {
				if known, private := privateWords[word]; private {
					t.Errorf("%s: a comment uses %q; say %s", f.name, word, known)
				}
			}
		}
	}
}

func TestNamesUseKnownWords(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if f.pkg == "internal/archtest" {
			continue
		}
		check := func(name string) {
			for _, word := range nameParts(name) {
				if known, private := privateNames[word]; private {
					t.Errorf("%s: the name %s has the word %q; say %s", f.name, name, word, known)
				}
			}
		}
		check(strings.TrimSuffix(path.Base(f.name), ".go"))
		for _, d := range f.ast.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					check(id.Name)
				}
				return true
			})
		}
	}
}

// yamlKey matches a key at the beginning of a line, of a list item, or of a flow mapping.
var yamlKey = regexp.MustCompile(`(?m)(?:^\s*(?:- )?|[{,]\s*)([a-zA-Z]+):(?:\s|$)`)

func TestDocumentsUseKnownWords(t *testing.T) {
	t.Parallel()
	root := "../.."
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "dist" || strings.HasPrefix(d.Name(), ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		declaration := path.Ext(name) == ".yaml" && (strings.HasPrefix(name, "rules/") || strings.HasPrefix(name, "resources/"))
		source := strings.HasPrefix(name, "web/src/") && !strings.HasSuffix(name, ".gen.ts") && (path.Ext(name) == ".ts" || path.Ext(name) == ".tsx")
		if !declaration && !source && path.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if declaration {
			for _, match := range yamlKey.FindAllStringSubmatch(string(text), -1) {
				if known, private := privateKeys[match[1]]; private {
					t.Errorf("%s has the key %s, which is now called %s", name, match[1], known)
				}
			}
			return nil
		}
		for _, word := range wordsOf(string(text)) {
			if known, private := privateWords[word]; private {
				t.Errorf("%s uses %q; say %s", name, word, known)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// nameParts splits a name at underscores and where upper case begins.
func nameParts(name string) (all []string) {
	var part strings.Builder
	end := func() {
		if part.Len() > 0 {
			all = append(all, strings.ToLower(part.String()))
			part.Reset()
		}
	}
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) {
			end()
		}
		if unicode.IsLetter(r) {
			part.WriteRune(r)
		}
	}
	end()
	return all
}
