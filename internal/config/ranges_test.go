package config_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"vigil/internal/config"
)

// TestEveryNumberHasARange sets every number and duration to invalid values and
// expects an error with the setting's name.
func TestEveryNumberHasARange(t *testing.T) {
	t.Parallel()
	numbers, fractions := 0, 0
	check := func(name string, path []int, value any) {
		t.Helper()
		c := config.Config{DataDir: "/var/lib/vigil"}
		c.Posture.Enabled = true
		c.Complete()
		field := reflect.ValueOf(&c).Elem().FieldByIndex(path)
		field.Set(reflect.ValueOf(value).Convert(field.Type()))
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), name+" must") {
			t.Errorf("%s = %v: Check = %v, want an error that names the setting", name, value, err)
		}
	}
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
				check(name, path, value)
			}
		case reflect.Float64:
			fractions++
			for _, value := range []float64{-1, math.Inf(-1), math.Inf(1), math.NaN()} {
				check(name, path, value)
			}
		case reflect.String, reflect.Bool:
		default:
			t.Errorf("%s has a type that the test does not know: %s", name, kind)
		}
	}
	visit("", nil, reflect.TypeFor[config.Config]())
	if numbers < 15 || fractions == 0 {
		t.Errorf("only %d integers and %d fractions were found", numbers, fractions)
	}
}
