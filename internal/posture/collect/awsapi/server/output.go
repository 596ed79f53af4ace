package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"vigil/internal/posture/collect/awsapi/model"
)

// Output converts a decoded JSON object to the values that [Encoder] encodes. It fails
// when a member is not in the model or has another type.
func Output(op *model.Operation, answer map[string]any) (map[string]any, error) {
	if op.Output == nil {
		return map[string]any{}, nil
	}
	values, err := structure(op.Output, answer, "")
	if err != nil {
		return nil, fmt.Errorf("output of %s.%s: %w", op.Service.Name, op.Name, err)
	}
	return values, nil
}

func structure(s *model.Shape, answer map[string]any, path string) (map[string]any, error) {
	values := map[string]any{}
	for name, v := range answer {
		if v == nil {
			continue
		}
		m := s.Member(name)
		if m == nil {
			return nil, fmt.Errorf("there is no member %s%s in the model", path, name)
		}
		value, err := convert(m.Shape, v, path+name)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

func convert(s *model.Shape, v any, path string) (any, error) {
	wrong := fmt.Errorf("%s must be a %s, not %T", path, s.Type, v)
	switch s.Type {
	case model.Structure:
		if s.Document {
			return v, nil
		}
		if members, ok := v.(map[string]any); ok {
			return structure(s, members, path+".")
		}
	case model.List:
		if list, ok := v.([]any); ok {
			return convertList(s, list, path)
		}
	case model.Map:
		if entries, ok := v.(map[string]any); ok {
			return convertMap(s, entries, path)
		}
	case model.Boolean:
		if flag, ok := v.(bool); ok {
			return flag, nil
		}
	case model.Integer, model.Long:
		if n, ok := v.(json.Number); ok {
			return n.Int64()
		}
	case model.Float, model.Double:
		if n, ok := v.(json.Number); ok {
			return n.Float64()
		}
	case model.Timestamp:
		if text, ok := v.(string); ok {
			return time.Parse(time.RFC3339Nano, text)
		}
	case model.Blob:
		if text, ok := v.(string); ok {
			if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
				return decoded, nil
			}
			return []byte(text), nil // written in the clear
		}
	default:
		if text, ok := v.(string); ok {
			return text, nil
		}
	}
	return nil, wrong
}

func convertList(s *model.Shape, list []any, path string) (any, error) {
	items := make([]any, len(list))
	for i, e := range list {
		var err error
		if items[i], err = convert(s.Item.Shape, e, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func convertMap(s *model.Shape, entries map[string]any, path string) (any, error) {
	values := map[string]any{}
	for k, e := range entries {
		var err error
		if values[k], err = convert(s.Value.Shape, e, path+"."+k); err != nil {
			return nil, err
		}
	}
	return values, nil
}
