package catalog_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Limits of the prose of rules and resource types, in characters and words. A title must
// fit into one line of a table, a sentence must be understood at one reading.
const (
	longestTitle    = 95
	longestWhy      = 420
	longestDoc      = 360
	longestSentence = 45
)

var (
	// quoted matches text in backticks or quotation marks, and JSON objects in single quotes.
	quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|'\\{[^']*\\}'")
	// sentenceEnd separates sentences. It also splits after abbreviations such as "e.g.",
	// so that their sentences count as shorter.
	sentenceEnd = regexp.MustCompile(`[.!?]\s+`)
	// word is a word of prose. Tokens with digits, dots, slashes or capitals inside are identifiers.
	word = regexp.MustCompile(`^[A-Za-z][a-z]*(-[a-z]+)*$`)
)

// misspelled maps common misspellings, and American spellings, to the correct British word.
// Terms of the cloud providers keep their spelling: authorization, analyzer, catalog.
var misspelled = map[string]string{
	"accross": "across", "acces": "access", "accomodate": "accommodate", "adress": "address", "adresses": "addresses", "agressive": "aggressive",
	"allready": "already", "alot": "a lot", "arguement": "argument", "atleast": "at least", "authenication": "authentication", "authentification": "authentication",
	"availabe": "available", "availible": "available", "becuase": "because", "begining": "beginning", "beleive": "believe", "calender": "calendar",
	"certifcate": "certificate", "chosing": "choosing", "comming": "coming", "commited": "committed", "compatability": "compatibility", "completly": "completely",
	"configration": "configuration", "connexion": "connection", "consistant": "consistent", "containts": "contains", "credencial": "credential", "definately": "definitely",
	"delteed": "deleted", "dependant": "dependent", "desciption": "description", "diffrent": "different", "dissappear": "disappear", "encrpted": "encrypted",
	"encyption": "encryption", "enviroment": "environment", "exisiting": "existing", "existance": "existence", "experiation": "expiration", "explicitely": "explicitly",
	"fullfil": "fulfil", "guarentee": "guarantee", "heigth": "height", "imediately": "immediately", "implict": "implicit", "incomming": "incoming",
	"independant": "independent", "infomation": "information", "intial": "initial", "lenght": "length", "maintainance": "maintenance", "managment": "management",
	"mispelled": "misspelled", "neccessary": "necessary", "necesary": "necessary", "occured": "occurred", "occurence": "occurrence", "paramter": "parameter",
	"pasword": "password", "permision": "permission", "permisson": "permission", "persistant": "persistent", "posible": "possible", "prefered": "preferred",
	"priviledge": "privilege", "privilige": "privilege", "propery": "property", "publically": "publicly", "recieve": "receive", "recieves": "receives",
	"recomended": "recommended", "refered": "referred", "relevent": "relevant", "requiered": "required", "resouce": "resource", "responsability": "responsibility",
	"retreive": "retrieve", "secuirty": "security", "seperate": "separate", "seperated": "separated", "shoud": "should", "similiar": "similar",
	"succesful": "successful", "successfull": "successful", "sucess": "success", "supress": "suppress", "surpress": "suppress", "teh": "the",
	"threshhold": "threshold", "transfered": "transferred", "truely": "truly", "unecessary": "unnecessary", "untill": "until", "useable": "usable",
	"usualy": "usually", "vulnerabilty": "vulnerability", "wether": "whether", "wich": "which", "writeable": "writable", "writting": "writing",

	"behavior": "behaviour", "color": "colour", "favor": "favour", "gray": "grey", "honor": "honour", "labeled": "labelled", "modeled": "modelled",
	"canceled": "cancelled", "fulfill": "fulfil", "defense": "defence", "neighbor": "neighbour", "organization": "organisation", "organizations": "organisations",
	"recognize": "recognise", "recognized": "recognised", "summarize": "summarise", "minimize": "minimise", "analyze": "analyse", "analyzed": "analysed",
	"authorise": "authorize", "authorised": "authorized", "authorisation": "authorization",
}

// A text is prose to check. Errors name it by where, such as the rule and the field.
type text struct{ where, prose string }

// checkProse reports mistakes of spelling and form in a text.
func checkProse(t *testing.T, p text) {
	t.Helper()
	plain := quoted.ReplaceAllString(p.prose, "X")
	last := "" // the previous word; empty after punctuation and identifiers
	for token := range strings.FieldsSeq(plain) {
		w := strings.Trim(token, ".,;:!?()")
		if !word.MatchString(w) {
			last = ""
			continue
		}
		if right := misspelled[w]; right != "" {
			t.Errorf("%s: %q should be %q", p.where, w, right)
		}
		// A capitalised word is checked only where a sentence may begin: elsewhere it may be a
		// name. Organization and Organizations are always names of cloud services.
		lower := strings.ToLower(w)
		if right := misspelled[lower]; right != "" && last == "" && w != lower && !strings.HasPrefix(w, "Organization") {
			t.Errorf("%s: %q should be %q", p.where, w, right)
		}
		if w == last && w != "that" && w != "had" {
			t.Errorf("%s: %q is doubled", p.where, w)
		}
		last = w
		if strings.ContainsAny(token, ".,;:!?()") {
			last = ""
		}
	}
	for _, s := range sentenceEnd.Split(plain, -1) {
		if n := len(strings.Fields(s)); n > longestSentence {
			t.Errorf("%s: a sentence has %d words, more than %d: %.80s…", p.where, n, longestSentence, s)
		}
	}
}

// checkSentences reports a text that is not a sequence of sentences, or has more characters
// than the limit. A quotation counts as one character. If longest is 0, there is no limit.
func checkSentences(t *testing.T, p text, longest int) {
	t.Helper()
	checkProse(t, p)
	first, _ := utf8.DecodeRuneInString(p.prose)
	length := utf8.RuneCountInString(quoted.ReplaceAllString(p.prose, "X"))
	switch {
	case !unicode.IsUpper(first) && !strings.ContainsRune("`\"", first):
		t.Errorf("%s: begins with a lower-case letter: %.40s", p.where, p.prose)
	case !strings.HasSuffix(p.prose, "."):
		t.Errorf("%s: does not end with a full stop: …%s", p.where, p.prose[max(0, len(p.prose)-40):])
	case longest > 0 && length > longest:
		t.Errorf("%s: %d characters without quotations, more than %d", p.where, length, longest)
	}
}

// TestProseOfRules checks spelling, form and length of the texts of every rule.
func TestProseOfRules(t *testing.T) {
	t.Parallel()
	for _, e := range product(t).Rules {
		id := string(e.ID)
		checkProse(t, text{id + " title", e.Name})
		first, _ := utf8.DecodeRuneInString(e.Name)
		if n := utf8.RuneCountInString(e.Name); n > longestTitle || strings.HasSuffix(e.Name, ".") || unicode.IsLower(first) {
			t.Errorf("%s: the title must begin with a capital letter, have no full stop and at most %d characters, not %d", id, longestTitle, n)
		}
		checkSentences(t, text{id + " why", e.Description}, longestWhy)
		checkSentences(t, text{id + " fix", e.SuggestedAction}, 0) // commands may be long
		for _, p := range e.Parameters {
			checkSentences(t, text{id + " parameter " + p.Name, p.Description}, longestDoc)
		}
	}
}

// TestProseOfResourceTypes checks the texts of every resource type, property and edge.
func TestProseOfResourceTypes(t *testing.T) {
	t.Parallel()
	for _, d := range declarations() {
		checkSentences(t, text{string(d.Type), d.Doc}, longestDoc)
		for _, p := range d.Properties {
			checkSentences(t, text{string(d.Type) + " " + p.Name, p.Doc}, longestDoc)
		}
		for _, e := range d.Edges {
			checkSentences(t, text{string(d.Type) + " " + e.Label, e.Doc}, longestDoc)
		}
	}
}

// TestMisspellingsAreConsistent checks that checkProse can match every misspelling, and
// that no correction is itself a misspelling.
func TestMisspellingsAreConsistent(t *testing.T) {
	t.Parallel()
	for wrong, right := range misspelled {
		if wrong == right || !word.MatchString(wrong) {
			t.Errorf("%q does not match the pattern of a word, or is its own correction", wrong)
		}
		if misspelled[right] != "" {
			t.Errorf("%q is both a correction and a misspelling", right)
		}
	}
}

// TestNoTwoRulesSayTheSame fails if two rules have the same title, or the same query
// apart from white space.
func TestNoTwoRulesSayTheSame(t *testing.T) {
	t.Parallel()
	queries, titles := map[string]string{}, map[string]string{}
	for _, e := range product(t).Rules {
		query := strings.Join(strings.Fields(e.Query.Text), "")
		if other := queries[query]; other != "" {
			t.Errorf("%s has the query of %s", e.ID, other)
		}
		title := string(e.Provider) + " " + strings.ToLower(e.Name)
		if other := titles[title]; other != "" {
			t.Errorf("%s has the title of %s: %s", e.ID, other, e.Name)
		}
		queries[query], titles[title] = string(e.ID), string(e.ID)
	}
}
