package config_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"vigil/internal/config"
)

// TestEveryNumberHasARange sets every integer and duration to invalid values and
// expects an error with the setting's name.
func TestEveryNumberHasARange(t *testing.T) {
	t.Parallel()
	numbers := 0
	var visit func(name string, path []int, kind reflect.Type)
	visit = func(name string, path []int, kind reflect.Type) {
		switch kind.Kind() {
		case reflect.Struct:
			for i := range kind.NumField() {
				field := kind.Field(i)
				key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
				inner := strings.Trim(name+"."+key, ".")
				if options == "inline" {
					inner = name
				}
				visit(inner, append(path[:len(path):len(path)], i), field.Type)
			}
		case reflect.Int, reflect.Int64:
			numbers++
			for _, value := range []int64{-1, math.MinInt64, math.MaxInt64} {
				c := config.Config{DataDir: "/var/lib/vigil"}
				c.Posture.Enabled = true
				c.Complete()
				reflect.ValueOf(&c).Elem().FieldByIndex(path).SetInt(value)
				if err := c.Check(); err == nil || !strings.Contains(err.Error(), name+" must") {
					t.Errorf("%s = %d: %v", name, value, err)
				}
			}
		}
	}
	visit("", nil, reflect.TypeFor[config.Config]())
	if numbers < 15 {
		t.Errorf("only %d numbers were found", numbers)
	}
}
