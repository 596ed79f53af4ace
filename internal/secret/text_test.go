package secret_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"vigil/internal/secret"
)

const canary = "canary-5f1d"

// holder has a text in an unexported field, where fmt prints values without calling their methods.
type holder struct {
	hidden secret.Text
	Shown  secret.Text
	Ptr    *secret.Text
}

func TestTextIsNeverPrinted(t *testing.T) {
	t.Parallel()
	text := secret.NewText(canary)
	h := holder{text, text, &text}
	out := map[string]string{
		"error":   fmt.Errorf("refused %v: %w", text, errors.New("x")).Error(),
		"map":     fmt.Sprintf("%v %#v", map[string]secret.Text{"a": text}, []secret.Text{text}),
		"strings": text.String() + text.GoString(),
	}
	for _, verb := range []string{"v", "+v", "#v", "s", "q", "x", "X", "d", "t", "p", "T", "10s", "-5v"} {
		out["%"+verb] = fmt.Sprintf("%"+verb+" %"+verb+" %"+verb, text, &text, h)
	}
	for name, encode := range map[string]func() ([]byte, error){
		"json": func() ([]byte, error) { return json.Marshal(h) },
		"xml":  func() ([]byte, error) { return xml.Marshal(h) },
		"yaml": func() ([]byte, error) { return yaml.Marshal(struct{ A secret.Text }{text}) },
		"slog": func() ([]byte, error) {
			var b bytes.Buffer
			slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "a", text, "b", h, slog.Any("c", &text))
			slog.New(slog.NewTextHandler(&b, nil)).Info("m", "a", text, "b", h, slog.Any("c", &text))
			return b.Bytes(), nil
		},
	} {
		data, err := encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = string(data)
	}
	if _, err := text.Value(); err == nil {
		t.Error("a text was accepted by the database unsealed")
	}
	for name, got := range out {
		hex := fmt.Sprintf("%x", canary)
		if strings.Contains(got, canary) || strings.Contains(strings.ToLower(got), hex) {
			t.Errorf("%s shows the secret: %s", name, got)
		}
	}
	if text.Reveal() != canary {
		t.Errorf("Reveal = %q, want the value", text.Reveal())
	}
}

func TestTextIsReadFromInput(t *testing.T) {
	t.Parallel()
	var in struct {
		A secret.Text `json:"a" yaml:"a"`
		B secret.Text `json:"b" yaml:"b"`
	}
	if err := json.Unmarshal([]byte(`{"a":"x\"y","b":null}`), &in); err != nil {
		t.Fatal(err)
	}
	if in.A.Reveal() != `x"y` || !in.B.IsZero() {
		t.Errorf("json gave %q and %q", in.A.Reveal(), in.B.Reveal())
	}
	if err := yaml.Unmarshal([]byte("a: pass word\n"), &in); err != nil || in.A.Reveal() != "pass word" {
		t.Errorf("yaml gave %q, %v", in.A.Reveal(), err)
	}
	err := json.Unmarshal([]byte(`{"a":{"deep":"`+canary+`"}}`), &in)
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("a wrong type gave %v", err)
	}
}

func TestTextsCompareByValue(t *testing.T) {
	t.Parallel()
	a, b := secret.NewText("a"), secret.NewText("a")
	if !cmp.Equal(a, b) || a.Equal(secret.NewText("b")) || !(secret.Text{}).Equal(secret.NewText("")) {
		t.Error("texts do not compare by value")
	}
}
