package collect

import "github.com/tidwall/gjson"

// maxDepth is the maximum nesting depth of lists and objects in a response; real
// responses have about ten levels.
const maxDepth = 100

// ValidAnswer reports whether a text is valid JSON that can be parsed without
// exhausting the stack.
func ValidAnswer(text []byte) bool { return isShallow(text) && gjson.ValidBytes(text) }

func isShallow(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			if depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
