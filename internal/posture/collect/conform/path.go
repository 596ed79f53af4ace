package conform

import (
	"fmt"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
)

// walk returns the shape at a gjson path. It returns nil when the shape is unknown: after a
// modifier, or in a document of arbitrary form.
func walk(s *model.Shape, path string) (*model.Shape, error) {
	for _, segment := range segments(path) {
		switch {
		case s == nil || s.Document:
			return nil, nil
		case strings.HasPrefix(segment, "@"), strings.HasPrefix(segment, "["), strings.HasPrefix(segment, "{"):
			if segment == "@this" {
				continue
			}
			return nil, nil // a modifier, or a new list or object of several paths
		case segment == "#" || strings.HasPrefix(segment, "#("):
			if s.Type != model.List {
				return nil, fmt.Errorf("%s is a %s, not a list", s.Name, s.Type)
			}
			s = s.Item.Shape
		case strings.Trim(segment, "0123456789") == "" && s.Type == model.List:
			s = s.Item.Shape
		case s.Type == model.Map:
			s = s.Value.Shape
		case s.Type == model.Structure:
			m := s.Member(strings.ReplaceAll(segment, `\`, ""))
			if m == nil {
				return nil, fmt.Errorf("%s has no member %s", s.Name, segment)
			}
			s = m.Shape
		default:
			return nil, fmt.Errorf("%s is a %s, which has no member %s", s.Name, s.Type, segment)
		}
	}
	return s, nil
}

// segments splits a path at its dots, but not within queries. The part after a pipe applies to
// the whole result before it; it becomes the segment @piped, after which the shape is unknown.
func segments(path string) (all []string) {
	depth, begin := 0, 0
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\':
			i++
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '|' && depth == 0:
			return append(append(all, path[begin:i]), "@piped")
		case c == '.' && depth == 0:
			all = append(all, path[begin:i])
			begin = i + 1
		}
	}
	return append(all, path[begin:])
}
