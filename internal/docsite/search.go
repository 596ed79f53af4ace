package docsite

import (
	"strings"
	"unicode/utf8"
)

// A hit is a section that a search found.
type hit struct {
	Page    *page
	Heading string // id of the section, empty for the start of the page
	Title   string
	Excerpt string
}

const (
	maxHits    = 50
	excerptLen = 240 // bytes
)

// find returns the sections that contain every word of the query, in their text
// or in the title of the page. Those with the first word in their heading come
// first.
func (s *site) find(query string) []hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var titles, texts []hit
	for _, p := range s.order {
		for i := range p.sections {
			c := &p.sections[i]
			title, _, _ := strings.Cut(c.text, "\n")
			if !hasAll(strings.ToLower(p.Title+" "+c.text), words) {
				continue
			}
			h := hit{Page: p, Title: title, Excerpt: excerpt(c.text, words[0])}
			if i > 0 {
				h.Heading = c.heading
			}
			if hasAll(strings.ToLower(title), words[:1]) {
				titles = append(titles, h)
			} else {
				texts = append(texts, h)
			}
		}
	}
	all := append(titles, texts...)
	return all[:min(len(all), maxHits)]
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// excerpt returns the text around a word.
func excerpt(text, word string) string {
	_, body, _ := strings.Cut(text, "\n")
	body = strings.Join(strings.Fields(body), " ")
	start := max(strings.Index(strings.ToLower(body), word), 0)
	from := max(0, min(start, len(body))-excerptLen/3) // start can exceed len(body): lower case may be longer
	for from > 0 && !utf8.RuneStart(body[from]) {
		from--
	}
	to := min(len(body), from+excerptLen)
	for to < len(body) && !utf8.RuneStart(body[to]) {
		to++
	}
	out := body[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(body) {
		out += "…"
	}
	return out
}
