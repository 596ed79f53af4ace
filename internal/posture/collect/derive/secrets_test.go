package derive

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// leaked is a credential that no function may repeat, not even its beginning. It is split so
// that secret scanners do not report this file.
const leaked = "wJalrXUtnF" + "EMIzK7MDENGzbPxRfiCYq3hTv8Lm"

// secretInputs has for each function that scans for credentials a value that contains one.
var secretInputs = map[string]string{
	"aws.functionEnvironment": `{"Variables":{"AWS_SECRET_ACCESS_KEY":"` + leaked + `","STAGE":"prod"}}`,
	"azure.deploymentSecrets": `[{"name":"main","properties":{"outputs":{"dbPassword":{"type":"String","value":"` + leaked + `"}},"parameters":{"size":{"value":3}}}}]`,
	"secrets.arguments":       `{"--db-password":"` + leaked + `"}`,
	"secrets.definition":      `"{\"password\": \"` + leaked + `\"}"`,
	"secrets.environment":     `[[{"name":"DB_PASSWORD","value":"` + leaked + `"},{"name":"TOKEN","valueFrom":"arn"}],[{"name":"STAGE","value":"prod"}],null]`,
	"secrets.environmentMaps": `[{"STAGE":"prod"},{"DB_PASSWORD":"` + leaked + `"}]`,
	"secrets.metadata":        `[{"key":"startup-script","value":"#!/bin/sh\nexport DB_PASSWORD=` + leaked + `\n"}]`,
	"secrets.outputs":         `[{"OutputKey":"DbPassword","OutputValue":"` + leaked + `"}]`,
	"secrets.parameters":      `[{"ParameterKey":"DbPassword","ParameterValue":"` + leaked + `"}]`,
	"secrets.userData":        `"` + base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\nexport DB_PASSWORD="+leaked+"\n")) + `"`,
	"secrets.variables":       `{"dbPassword":"` + leaked + `"}`,
}

func TestSecretFunctionsReportCredentialsWithoutTheirValue(t *testing.T) {
	for name, f := range Functions().Derive {
		secrets := slices.ContainsFunc(f.Properties, func(p resource.Property) bool { return strings.HasSuffix(p.Name, "Secrets") })
		input, ok := secretInputs[name]
		if secrets != ok {
			t.Errorf("%s: scans for credentials: %v, has an input in this test: %v", name, secrets, ok)
		}
		if !ok {
			continue
		}
		found, text := applySecrets(t, f, input)
		if len(found) != 1 {
			t.Errorf("%s found %v, want one credential", name, found)
		}
		if strings.Contains(text, leaked[:8]) {
			t.Errorf("%s: the entity contains the credential: %s", name, text)
		}
	}
}

// applySecrets applies a function to a value. It returns the values of the properties that it
// adds, without unknown ones, and the whole entity with its problems as JSON.
func applySecrets(t *testing.T, f resource.Function, input string) (found []string, text string) {
	t.Helper()
	b := resource.NewBuilder("AWS.Lambda.Function", "123456789012", "eu-west-1", "one")
	if err := f.Apply(resource.FunctionInput{Value: gjson.Parse(input)}, b); err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{b.Entity, fmt.Sprint(b.Problems())})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.Properties {
		if p.Type != posture.UnknownProperty {
			found = append(found, p.String)
		}
	}
	return found, string(all)
}

func TestEnvironmentThatLambdaCannotDecryptIsUnknown(t *testing.T) {
	found, text := applySecrets(t, awsFunctionEnvironment, `{"Error":{"ErrorCode":"AccessDeniedException"}}`)
	if len(found) != 0 || !strings.Contains(text, "AccessDeniedException") {
		t.Errorf("found %v: %s, want an unknown property with the error", found, text)
	}
}

func TestUserData(t *testing.T) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write([]byte("#!/bin/sh\n\nDB_PASSWORD=" + leaked)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := base64.StdEncoding.EncodeToString(compressed.Bytes())
	found, _ := applySecrets(t, Functions().Derive["secrets.userData"], `"`+whole+`"`)
	if !slices.Equal(found, []string{"generic-api-key in line 3"}) {
		t.Errorf("compressed: found %v", found)
	}
	cut := base64.StdEncoding.EncodeToString(compressed.Bytes()[:30])
	if found, text := applySecrets(t, Functions().Derive["secrets.userData"], `"`+cut+`"`); len(found) != 0 || !strings.Contains(text, "cannot be read") {
		t.Errorf("damaged: found %v: %s, want an unknown property", found, text)
	}
	for _, nothing := range []string{`""`, `null`, `"` + base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\necho hello\n")) + `"`} {
		if found, text := applySecrets(t, Functions().Derive["secrets.userData"], nothing); len(found) != 0 || strings.Contains(text, "unknown") {
			t.Errorf("%s: found %v: %s, want nothing", nothing, found, text)
		}
	}
}

// TestVariableWithTrailingNewline scans a password that was read from a file with its last newline.
func TestVariableWithTrailingNewline(t *testing.T) {
	found, _ := applySecrets(t, Functions().Derive["secrets.variables"], `{"DB_PASSWORD":"hunter2x\n"}`)
	if !slices.Equal(found, []string{"password in DB_PASSWORD"}) {
		t.Errorf("found %v, want the password", found)
	}
}

// TestObjectOfVariablesIsNotAnElement scans objects that map names of variables to values. Some
// variables are called name, value, key or type, like the members of an element of a list of
// variables ({"name": …, "value": …}); the object must not be taken for such an element.
func TestObjectOfVariablesIsNotAnElement(t *testing.T) {
	for _, variables := range []string{
		`{"name":"web","DB_PASSWORD":"hunter2x","count":3,"none":null}`,
		`{"name":"web","value":"3","DB_PASSWORD":"hunter2x"}`,
		`{"key":"web","type":"prod","DB_PASSWORD":"hunter2x"}`,
	} {
		for function, input := range map[string]string{
			"secrets.environment":     variables,
			"secrets.environmentMaps": "[null,{}," + variables + "]",
		} {
			found, _ := applySecrets(t, Functions().Derive[function], input)
			if !slices.Equal(found, []string{"password in DB_PASSWORD"}) {
				t.Errorf("%s(%s): found %v", function, input, found)
			}
		}
	}
}
