package kms_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"vigil/internal/secret"
	"vigil/internal/secret/kms"
	"vigil/internal/secret/secrettest"
)

// local is the key of a simulated service.
type local struct{ secret.Master }

func newLocal(t *testing.T) local { return local{secrettest.Master(t)} }

func (l local) seal(t *testing.T, plaintext, associated []byte) []byte {
	out, err := l.EncryptWithContext(context.Background(), plaintext, associated)
	if err != nil {
		t.Error(err)
	}
	return out
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

const awsURI = "aws-kms://arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

// awsService simulates the used operations of AWS KMS.
func awsService(t *testing.T) http.Handler {
	key := newLocal(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			KeyId             string
			Plaintext         []byte
			CiphertextBlob    []byte
			EncryptionContext map[string]string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if auth := r.Header.Get("Authorization"); !strings.Contains(auth, "/eu-west-1/kms/aws4_request") {
			answer(w, 400, map[string]string{"__type": "IncompleteSignature"})
			return
		}
		if in.KeyId != strings.TrimPrefix(awsURI, "aws-kms://") {
			answer(w, 400, map[string]string{"__type": "NotFoundException"})
			return
		}
		context, _ := json.Marshal(in.EncryptionContext)
		switch target := r.Header.Get("X-Amz-Target"); target {
		case "TrentService.Encrypt":
			answer(w, 200, map[string]any{"KeyId": in.KeyId, "CiphertextBlob": key.seal(t, in.Plaintext, context)})
		case "TrentService.Decrypt":
			plaintext, err := key.DecryptWithContext(r.Context(), in.CiphertextBlob, context)
			if err != nil {
				answer(w, 400, map[string]string{"__type": "InvalidCiphertextException"})
				return
			}
			answer(w, 200, map[string]any{"KeyId": in.KeyId, "Plaintext": plaintext})
		default:
			t.Errorf("unexpected call %s", target)
		}
	})
}

const gcpURI = "gcp-kms://projects/p/locations/europe-west1/keyRings/r/cryptoKeys/k"

func crc(b []byte) string {
	return fmt.Sprint(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// gcpService simulates the used operations of Google Cloud KMS. The values of replace
// are put in place of the members of its responses that have the same name.
func gcpService(t *testing.T, replace map[string]any) http.Handler {
	key := newLocal(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Plaintext, Ciphertext, AdditionalAuthenticatedData []byte
			PlaintextCrc32c, CiphertextCrc32c                  string
			AdditionalAuthenticatedDataCrc32c                  string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		respond := func(members map[string]any) {
			for name, v := range replace {
				if _, ok := members[name]; ok {
					members[name] = v
				}
			}
			answer(w, 200, members)
		}
		associatedIsIntact := in.AdditionalAuthenticatedDataCrc32c == crc(in.AdditionalAuthenticatedData)
		name, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), ":")
		if name != strings.TrimPrefix(gcpURI, "gcp-kms://") {
			answer(w, 404, map[string]any{"error": map[string]any{"code": 404, "message": "not found"}})
			return
		}
		switch verb {
		case "encrypt":
			sealed := key.seal(t, in.Plaintext, in.AdditionalAuthenticatedData)
			respond(map[string]any{
				"name": name, "ciphertext": sealed, "ciphertextCrc32c": crc(sealed),
				"verifiedPlaintextCrc32c": in.PlaintextCrc32c == crc(in.Plaintext), "verifiedAdditionalAuthenticatedDataCrc32c": associatedIsIntact,
			})
		case "decrypt":
			plaintext, err := key.DecryptWithContext(r.Context(), in.Ciphertext, in.AdditionalAuthenticatedData)
			if err != nil || in.CiphertextCrc32c != crc(in.Ciphertext) || !associatedIsIntact {
				answer(w, 400, map[string]any{"error": map[string]any{"code": 400, "message": "decryption failed"}})
				return
			}
			respond(map[string]any{"plaintext": plaintext, "plaintextCrc32c": crc(plaintext)})
		default:
			t.Errorf("unexpected call %s", r.URL)
		}
	})
}

const azureURI = "azure-kv://vault.vault.azure.net/keys/k"

// staticToken is a credential for the fake vault.
type staticToken struct{}

func (staticToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "azure-token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// azureService simulates the used operations of Azure Key Vault.
func azureService(t *testing.T) http.Handler {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const version = "0123456789abcdef0123456789abcdef"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer azure-token" {
			w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.microsoftonline.com/tenant", resource="https://vault.azure.net"`)
			answer(w, 401, map[string]any{})
			return
		}
		var in struct{ Alg, Value string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		value, err := base64.RawURLEncoding.DecodeString(in.Value)
		if err != nil || in.Alg != "RSA-OAEP-256" {
			t.Errorf("asked for the algorithm %s, want RSA-OAEP-256; value: %v", in.Alg, err)
		}
		switch path := strings.TrimPrefix(r.URL.Path, "/keys/k"); {
		case path == "/wrapkey" || path == "//wrapkey": // without a version
			value, err = rsa.EncryptOAEP(sha256.New(), rand.Reader, &key.PublicKey, value, nil)
		case path == "/"+version+"/unwrapkey":
			value, err = rsa.DecryptOAEP(sha256.New(), nil, key, value, nil)
		default:
			answer(w, 404, map[string]any{"error": map[string]string{"code": "KeyNotFound"}})
			return
		}
		if err != nil {
			answer(w, 400, map[string]any{"error": map[string]string{"code": "BadParameter"}})
			return
		}
		answer(w, 200, map[string]any{
			"kid": "https://vault.vault.azure.net/keys/k/" + version, "value": base64.RawURLEncoding.EncodeToString(value),
		})
	})
}

// service is a simulated service and its URI.
type service struct {
	uri     string
	handler func(*testing.T) http.Handler
}

var services = map[string]service{
	"aws":   {awsURI, awsService},
	"gcp":   {gcpURI, func(t *testing.T) http.Handler { return gcpService(t, nil) }},
	"azure": {azureURI, azureService},
}

func open(t *testing.T, uri string, h http.Handler) secret.Master {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	m, err := kms.Open(t.Context(), uri, kms.Options{Endpoint: srv.URL, HTTPClient: srv.Client(), Azure: staticToken{}, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// setAWS sets dummy AWS credentials.
func setAWS(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
}

func TestBoxWorksWithAMasterKeyInAService(t *testing.T) {
	setAWS(t)
	cell := secret.Cell{Org: "o", Table: "t", Row: "r", Field: "f"}
	for name, s := range services {
		t.Run(name, func(t *testing.T) {
			handler, ring := s.handler(t), secrettest.NewKeyring()
			first, err := secret.NewBox(t.Context(), ring, secret.Options{Master: open(t, s.uri, handler)})
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := first.Seal(t.Context(), cell, []byte("canary"))
			if err != nil {
				t.Fatal(err)
			}
			// Make the keyset larger than what a service encrypts in one call.
			for range 60 {
				if err := first.Rotate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			w, err := ring.Keyset(t.Context())
			if err != nil || w.Master != s.uri {
				t.Errorf("stored for master key %q, %v", w.Master, err)
			}
			second, err := secret.NewBox(t.Context(), ring, secret.Options{Master: open(t, s.uri, handler)})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := second.Open(t.Context(), cell, sealed); err != nil || string(got) != "canary" {
				t.Errorf("after a restart: %q, %v", got, err)
			}
			// Each call of s.handler makes a service with another key under the same name.
			if _, err := secret.NewBox(t.Context(), ring, secret.Options{Master: open(t, s.uri, s.handler(t))}); err == nil {
				t.Error("another key unwrapped the keyset")
			}
		})
	}
}

func TestMasterKeyCanMoveFromFileToService(t *testing.T) {
	setAWS(t)
	for name, s := range services {
		t.Run(name, func(t *testing.T) {
			handler, ring, old := s.handler(t), secrettest.NewKeyring(), secrettest.Master(t)
			if _, err := secret.NewBox(t.Context(), ring, secret.Options{Master: old}); err != nil {
				t.Fatal(err)
			}
			both, err := secret.NewBox(t.Context(), ring, secret.Options{Master: open(t, s.uri, handler), Previous: []secret.Master{old}})
			if err == nil {
				err = both.Rewrap(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := secret.NewBox(t.Context(), ring, secret.Options{Master: open(t, s.uri, handler)}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrorsOfTheServiceAreReported(t *testing.T) {
	setAWS(t)
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 403, map[string]any{"__type": "AccessDeniedException", "error": map[string]any{"code": 403}})
	})
	for name, s := range services {
		if _, err := open(t, s.uri, refuse).EncryptWithContext(t.Context(), []byte("x"), nil); err == nil {
			t.Errorf("%s: no error although the service refuses", name)
		}
	}
}

func TestCorruptedMessagesAreDetected(t *testing.T) {
	t.Parallel()
	replace := map[string]any{}
	m := open(t, gcpURI, gcpService(t, replace))
	plaintext, associated := []byte("x"), []byte("y")
	sealed, err := m.EncryptWithContext(t.Context(), plaintext, associated)
	if err != nil {
		t.Fatal(err)
	}
	for member, wrong := range map[string]any{
		"ciphertextCrc32c": "1", "verifiedPlaintextCrc32c": false, "verifiedAdditionalAuthenticatedDataCrc32c": false,
	} {
		replace[member] = wrong
		if _, err := m.EncryptWithContext(t.Context(), plaintext, associated); err == nil {
			t.Errorf("a response with %s %v was accepted", member, wrong)
		}
		delete(replace, member)
	}
	if got, err := m.DecryptWithContext(t.Context(), sealed, associated); err != nil || string(got) != "x" {
		t.Errorf("the intact ciphertext: %q, %v", got, err)
	}
	replace["plaintextCrc32c"] = "1"
	if _, err := m.DecryptWithContext(t.Context(), sealed, associated); err == nil {
		t.Error("a plaintext with a wrong checksum was accepted")
	}
}

func TestThrottledCallsAreRepeated(t *testing.T) {
	setAWS(t)
	for _, tt := range []struct {
		service  string
		status   int
		code     string
		repeated bool
	}{
		{"aws", 400, "ThrottlingException", true},
		{"aws", 400, "com.amazonaws.kms#ThrottlingException", true},
		{"aws", 400, "DisabledException", false},
		{"gcp", 429, "", true},
		{"azure", 429, "", true},
	} {
		t.Run(fmt.Sprint(tt.service, " ", tt.status, " ", tt.code), func(t *testing.T) {
			s, refusals := services[tt.service], 0
			handler := s.handler(t)
			m := open(t, s.uri, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// Azure's client first asks without a token how to authenticate. That is no attempt.
				if r.Header.Get("Authorization") == "" && tt.service == "azure" || refusals > 0 {
					handler.ServeHTTP(w, r)
					return
				}
				refusals++
				answer(w, tt.status, map[string]string{"__type": tt.code, "message": "You have exceeded the rate at which you may call KMS."})
			}))
			if _, err := m.EncryptWithContext(t.Context(), []byte("x"), nil); (err == nil) != tt.repeated || refusals != 1 {
				t.Errorf("%d refusals, repeated: %t, want %t: %v", refusals, err == nil, tt.repeated, err)
			}
		})
	}
}

func TestBadURIsAreRefused(t *testing.T) {
	setAWS(t)
	for _, uri := range []string{
		"", "file:/x", "vault://x", "aws-kms://alias/x", "aws-kms://arn:aws:s3:eu-west-1:1:x", "gcp-kms://projects/p", "gcp-kms://",
		"azure-kv://v.vault.azure.net", "azure-kv://v.vault.azure.net/secrets/k", "azure-kv://v.vault.azure.net/keys/k/version",
	} {
		if _, err := kms.Open(t.Context(), uri, kms.Options{Anonymous: true, Azure: staticToken{}}); err == nil {
			t.Errorf("Open(%q) succeeded", uri)
		}
	}
}
