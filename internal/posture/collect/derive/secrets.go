package derive

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect/secretscan"
	"vigil/internal/posture/resource"
)

// maxScanned is how much of one text or variable is scanned, in bytes. User data has at most 64 KB.
const maxScanned = 1 << 20

// secretFunction returns a function that adds the kinds and places of credentials that find
// returns, as the named property.
func secretFunction(name, what string, find func(gjson.Result) ([]string, error)) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: name, Kind: resource.Texts, Doc: "Credentials in " + what + ": their kind and place, never their value."}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			found, err := find(in.Value)
			if err != nil {
				b.Unread(err, name)
				return nil
			}
			b.Set(name, found)
			return nil
		},
	}
}

// secretsInVariables returns a function that scans named values.
func secretsInVariables(name, what string) resource.Function {
	return secretFunction(name, what, func(value gjson.Result) ([]string, error) { return variableSecrets(value), nil })
}

// secretsInMaps returns a function that scans an object from name to value, or a list of such
// objects. A member called "name" is a variable like the others, not the name of one.
func secretsInMaps(name, what string) resource.Function {
	return secretFunction(name, what, func(value gjson.Result) (found []string, _ error) {
		for _, variables := range value.Array() {
			found = append(found, scanVariables(variables, eachMember)...)
		}
		return found, nil
	})
}

// variableSecrets scans named values.
func variableSecrets(value gjson.Result) []string {
	if value.IsObject() { // from name to value, even if it has a member called "name"
		return scanVariables(value, eachMember)
	}
	return scanVariables(value, eachVariable)
}

// scanVariables scans the named values that each visits.
func scanVariables(value gjson.Result, each func(value gjson.Result, visit func(key, text string))) (found []string) {
	each(value, func(key, text string) {
		if strings.Contains(text, "\n") { // a file or script: its credentials are reported with their lines
			matches := secretscan.Text(text[:min(len(text), maxScanned)])
			for _, match := range matches {
				found = append(found, fmt.Sprintf("%s in %s, line %d", match.Kind, key, match.Line))
			}
			hasSeveralLines := strings.Contains(strings.TrimSpace(text), "\n")
			if len(matches) > 0 || hasSeveralLines {
				return
			}
		}
		for _, kind := range secretscan.Variable(key, text[:min(len(text), maxScanned)]) {
			found = append(found, kind+" in "+key)
		}
	})
	return found
}

// secretsInText returns a function that scans texts.
func secretsInText(name, what string) resource.Function {
	return secretFunction(name, what, func(value gjson.Result) ([]string, error) {
		var all []string
		eachText(value, func(text string) { all = append(all, secretsByLine(text)...) })
		return all, nil
	})
}

// secretsInUserData returns a function that scans scripts that are encoded in base64 and can be
// compressed, as cloud-init accepts them.
func secretsInUserData(name, what string) resource.Function {
	return secretFunction(name, what, func(value gjson.Result) ([]string, error) {
		var all []string
		var failed error
		eachText(value, func(encoded string) {
			text, err := decodeUserData(encoded)
			failed = errors.Join(failed, err)
			all = append(all, secretsByLine(text)...)
		})
		return all, failed
	})
}

// secretsByLine scans a text.
func secretsByLine(text string) (all []string) {
	for _, match := range secretscan.Text(text[:min(len(text), maxScanned)]) {
		all = append(all, fmt.Sprintf("%s in line %d", match.Kind, match.Line))
	}
	return all
}

// eachText visits the texts of a value: a string, an object as JSON, or those of each element of a list.
func eachText(value gjson.Result, visit func(text string)) {
	switch {
	case value.IsArray():
		for _, element := range value.Array() {
			eachText(element, visit)
		}
	case value.IsObject():
		visit(value.Raw)
	case value.Type == gjson.String && value.Str != "":
		visit(value.Str)
	}
}

// The members of named values in the answers of the clouds: name, value, and what stands instead of
// a value that is kept elsewhere.
var (
	variableNames      = []string{"name", "Name", "key", "Key", "OutputKey", "ParameterKey"}
	variableValues     = []string{"value", "Value", "OutputValue", "ParameterValue"}
	variableReferences = []string{"valueFrom", "valueSource", "secretRef", "secureValue", "type"}
)

// eachVariable visits named values: a list, which may be nested, of objects that have a name and
// either a value or a reference to one. Other objects are taken as objects from name to value.
func eachVariable(value gjson.Result, visit func(key, text string)) {
	switch {
	case value.IsArray():
		for _, element := range value.Array() {
			eachVariable(element, visit)
		}
	case value.IsObject():
		if name := firstOf(value, variableNames); name.Type == gjson.String {
			if text := firstOf(value, variableValues); text.Exists() {
				visit(name.Str, text.String())
				return
			}
			if firstOf(value, variableReferences).Exists() {
				return
			}
		}
		eachMember(value, visit)
	}
}

// eachMember visits the members of an object from name to value. A value can be wrapped in an
// object, as in Azure's deployments: {"value": "x"}.
func eachMember(object gjson.Result, visit func(key, text string)) {
	object.ForEach(func(key, element gjson.Result) bool {
		if element.IsObject() {
			element = firstOf(element, variableValues)
		}
		if element.Exists() && element.Type != gjson.Null {
			visit(key.String(), element.String())
		}
		return true
	})
}

// firstOf returns the first of several members of an object that exists.
func firstOf(object gjson.Result, members []string) gjson.Result {
	for _, member := range members {
		if value := object.Get(member); value.Exists() {
			return value
		}
	}
	return gjson.Result{}
}

// decodeUserData decodes user data. Text that is not in base64 is returned as it is: Google's and
// some answers of AWS are not encoded.
func decodeUserData(encoded string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return encoded, nil
	}
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return string(data), nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", errors.New("the compressed user data cannot be read")
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxScanned))
	if err != nil {
		return "", errors.New("the compressed user data cannot be read")
	}
	return string(text), nil
}

// awsFunctionEnvironment scans the environment of a Lambda function. Lambda reports an error instead
// of the variables when its caller may not decrypt them.
var awsFunctionEnvironment = secretFunction("environmentSecrets", "its environment variables", func(value gjson.Result) ([]string, error) {
	if code := value.Get("Error.ErrorCode"); code.Exists() {
		return nil, fmt.Errorf("lambda could not decrypt the environment variables: %s", code.String())
	}
	return variableSecrets(value.Get("Variables")), nil
})
