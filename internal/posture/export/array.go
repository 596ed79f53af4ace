package export

import (
	"bytes"
	"encoding/json"
	"io"
)

// An array writes a JSON array with one element per line, and a prefix and a suffix
// around it.
type array struct {
	w             io.Writer
	before, after string
	started       bool
	line          bytes.Buffer
}

func (a *array) put(v any) error {
	separator := ",\n"
	if !a.started {
		a.started, separator = true, a.before+"[\n"
	}
	a.line.Reset()
	a.line.WriteString(separator)
	encoder := json.NewEncoder(&a.line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	a.line.Truncate(a.line.Len() - 1) // the line feed of the encoder
	_, err := a.w.Write(a.line.Bytes())
	return err
}

func (a *array) close() error {
	text := "\n]" + a.after + "\n"
	if !a.started {
		text = a.before + "[" + text
	}
	_, err := io.WriteString(a.w, text)
	return err
}

// clip truncates a text to a number of characters.
func clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
