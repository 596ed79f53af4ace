package collect

import "github.com/tidwall/gjson"

// maxDepth is how deep lists and objects may be nested in an answer; real ones
// have ten levels.
const maxDepth = 100

// ValidAnswer reports whether a text is JSON that can be read without running out
// of stack.
func ValidAnswer(text []byte) bool { return shallow(text) && gjson.ValidBytes(text) }

func shallow(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
