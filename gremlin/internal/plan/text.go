package plan

import (
	"slices"
	"strings"
)

// mathFunctions are the functions that expressions can call.
var mathFunctions = map[string]bool{
	"abs": true, "acos": true, "asin": true, "atan": true, "cbrt": true, "ceil": true, "cos": true, "cosh": true, "exp": true,
	"floor": true, "log": true, "log10": true, "log2": true, "signum": true, "sin": true, "sinh": true, "sqrt": true, "tan": true,
	"tanh": true,
}

// MathVariables returns the variables of an expression in the order of first
// occurrence. "_" is the current object.
func MathVariables(expr string) []string {
	var out []string
	for i := 0; i < len(expr); {
		if !isNameStart(expr[i]) {
			// The exponent of a number is not a name: 1e5.
			if expr[i] >= '0' && expr[i] <= '9' {
				for i < len(expr) && (expr[i] >= '0' && expr[i] <= '9' || expr[i] == '.' || expr[i] == 'e' || expr[i] == 'E') {
					i++
				}
				continue
			}
			i++
			continue
		}
		j := i
		for j < len(expr) && (isNameStart(expr[j]) || expr[j] >= '0' && expr[j] <= '9') {
			j++
		}
		if name := expr[i:j]; !mathFunctions[name] && !slices.Contains(out, name) {
			out = append(out, name)
		}
		i = j
	}
	return out
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// A Piece of a template: text, then a variable unless it is the last.
type Piece struct {
	Text string
	Var  string
	Last bool
}

// Pieces splits a template at its variables %{name}; %%{name} is text.
func Pieces(template string) []Piece {
	var out []Piece
	textStart, searchFrom := 0, 0
	for {
		i := strings.Index(template[searchFrom:], "%{")
		if i < 0 {
			break
		}
		i += searchFrom
		end := strings.IndexByte(template[i:], '}')
		if end < 0 {
			break
		}
		searchFrom = i + 2
		if i > 0 && template[i-1] == '%' {
			continue
		}
		out = append(out, Piece{Text: template[textStart:i], Var: template[i+2 : i+end]})
		textStart = i + end + 1
		searchFrom = textStart
	}
	return append(out, Piece{Text: template[textStart:], Last: true})
}

// FormatVariables returns the variables of a template without "_", which stands
// for the result of a by().
func FormatVariables(template string) []string {
	var out []string
	for _, p := range Pieces(template) {
		if !p.Last && p.Var != "_" {
			out = append(out, p.Var)
		}
	}
	return out
}
