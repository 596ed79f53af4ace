package awsapitest

import "vigil/internal/posture/collect/awsapi/model"

// Input generates an input of an operation with all members, or only with those that the
// model requires. Strings are valid in host names and URLs. No value is zero, because
// generated SDK modules cannot distinguish zero from absent.
func (m *Maker) Input(op *model.Operation, onlyRequired bool) map[string]any {
	if op.Input == nil {
		return map[string]any{}
	}
	simple := *m
	simple.Plain, simple.Full = true, true
	return simple.input(op.Input, onlyRequired, 0)
}

func (m *Maker) input(s *model.Shape, onlyRequired bool, depth int) map[string]any {
	values := map[string]any{}
	for i := range s.Members {
		r := &s.Members[i]
		// Deep structures have only the required members, too. Clients generate tokens themselves.
		if !r.Required && (onlyRequired || depth > 2) || r.Token {
			continue
		}
		values[r.Name] = m.inputValue(r, onlyRequired, depth+1)
	}
	return values
}

func (m *Maker) inputValue(r *model.Member, onlyRequired bool, depth int) any {
	switch s := r.Shape; {
	case r.Name == "Bucket":
		return "bucket-name"
	case r.Name == "AccountId":
		return "123456789012"
	case s.Type == model.Structure && !s.Document && !s.Union:
		return m.input(s, onlyRequired, depth)
	case s.Type == model.List:
		return []any{m.inputValue(s.Item, onlyRequired, depth+1)}
	case s.Type == model.Map:
		return map[string]any{m.word(): m.inputValue(s.Value, onlyRequired, depth+1)}
	}
	switch r.Shape.Type {
	case model.Boolean:
		return true
	case model.Integer, model.Long:
		return int64(1 + m.rand.IntN(1000))
	case model.Float, model.Double:
		return 1.5
	}
	return m.value(r, depth)
}
