package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"testing"

	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
)

// parseJSON parses JSON for comparison.
func parseJSON(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// equalJSON reports whether two JSON documents are equal.
func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return bytes.Equal(a, b) || equal(parseJSON(t, a), parseJSON(t, b))
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		if !ok || a == b {
			return ok
		}
		x, err := a.Float64()
		y, err2 := b.Float64()
		return err == nil && err2 == nil && x == y
	}
	return reflect.DeepEqual(a, b)
}

// TestDecodeEveryOperation decodes a generated response of every operation of
// every service except those with CBOR. It compares the result with the generated values
// and with the result of smithy-go's deserializers. It tests a fifth of the services unless
// VIGIL_TORTURE is set.
func TestDecodeEveryOperation(t *testing.T) {
	t.Parallel()
	services, operations, compared := model.Services(), 0, 0
	step, atLeast := 5, 1500
	if os.Getenv("VIGIL_TORTURE") != "" {
		step, atLeast = 1, 8000
	}
	for n, name := range services {
		s, err := model.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Protocol == model.CBOR || n%step != 0 {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(s.Operations)) { // in order, so that the same values are generated in each run
			op := s.Operations[key]
			if name == "s3" && op.Name == "GetBucketNotification" {
				continue // deprecated: two members have the same name on the wire
			}
			operations++
			maker := awsapitest.New(uint64(operations))
			output := maker.Output(op)
			header, body := awsapitest.Answer(op, output)
			d, err := DecoderOf(op)
			if err != nil {
				t.Errorf("%s %s: %v", name, op.Name, err)
				continue
			}
			got, err := d.Decode(http.StatusOK, header, body)
			if err != nil {
				t.Errorf("%s %s: %v\n%.2000s", name, op.Name, err, body)
				continue
			}
			want, err := json.Marshal(output)
			if err != nil {
				t.Fatal(err)
			}
			if !equalJSON(t, want, got) {
				t.Errorf("%s %s:\nwant %.3000s\ngot  %.3000s\nof   %.3000s", name, op.Name, want, got, body)
				return
			}
			if name == "s3" && op.Name == "GetBucketLocation" {
				continue // the root element is the member itself, which generated SDK code handles, not smithy-go
			}
			if op.Output == nil {
				continue
			}
			r, err := newReference(op)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			reference, err := r.decode(header, body)
			if err != nil || !equal(reference, parseJSON(t, got)) {
				text, _ := json.Marshal(reference)
				t.Errorf("%s %s: smithy-go reads %.3000s, %v\nwe read %.3000s", name, op.Name, text, err, got)
				return
			}
			decoders.Delete(op) // otherwise all models stay in memory
		}
	}
	t.Logf("%d operations, %d of them also read by smithy-go", operations, compared)
	if compared < atLeast {
		t.Errorf("%d operations were compared with smithy-go, want at least %d", compared, atLeast)
	}
}
