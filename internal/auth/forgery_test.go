package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

type object = map[string]any

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// forge builds a token from a header and claims, signed by sign.
func forge(header object, claims any, sign func(input []byte) []byte) string {
	input := encode(header) + "." + encode(claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(input)))
}

// with returns a copy of o with changes; nil removes a member.
func with(o object, changes object) object {
	out := maps.Clone(o)
	for k, v := range changes {
		out[k] = v
		if v == nil {
			delete(out, k)
		}
	}
	return out
}

// realKey returns the private key with the given id. Tokens that it signs have a
// valid signature, so tests can change the header or the claims alone.
func realKey(t *testing.T, h *fixture, kid string) ed25519.PrivateKey {
	t.Helper()
	keys, err := authdb.NewStore(h.db).SigningKeys(t.Context(), "posture")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.ID == kid {
			seed, err := h.box.Open(t.Context(), secret.Cell{Table: auth.SigningKeyTable, Row: kid, Field: "sealed"}, k.Sealed)
			if err != nil {
				t.Fatal(err)
			}
			return ed25519.NewKeyFromSeed(seed)
		}
	}
	t.Fatalf("no key %s", kid)
	return nil
}

func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	_, text := p.org(t, "acme")
	valid := p.access(t, text)
	header, claims := part(t, valid, 0), part(t, valid, 1)
	kid := header["kid"].(string)
	private := realKey(t, h, kid)
	public := private.Public().(ed25519.PublicKey)
	signOwn := func(in []byte) []byte { return ed25519.Sign(private, in) }
	mac := func(key []byte) func([]byte) []byte {
		return func(in []byte) []byte {
			m := hmac.New(sha256.New, key)
			m.Write(in)
			return m.Sum(nil)
		}
	}
	noSignature := func([]byte) []byte { return nil }
	_, foreignKey, _ := ed25519.GenerateKey(rand.Reader)
	signForeign := func(in []byte) []byte { return ed25519.Sign(foreignKey, in) }
	publicJWK, err := json.Marshal(jose.JSONWebKey{Key: public, KeyID: kid, Algorithm: "EdDSA", Use: "sig"}) // as published
	if err != nil {
		t.Fatal(err)
	}
	foreignJWK := jose.JSONWebKey{Key: foreignKey.Public(), KeyID: kid, Algorithm: "EdDSA"}
	now := h.clock.now().Unix()
	parts := strings.Split(valid, ".")

	if c, err := p.Identify(t.Context(), forge(header, claims, signOwn), ""); err != nil || c.Role != auth.Admin {
		t.Fatalf("forge does not make valid tokens: %v", err)
	}
	tokens := map[string]string{
		"empty":                         "",
		"garbage":                       "made-up",
		"three dots":                    "...",
		"no signature":                  parts[0] + "." + parts[1] + ".",
		"two parts":                     parts[0] + "." + parts[1],
		"four parts":                    valid + "." + parts[2],
		"five parts":                    valid + ".a.b",
		"very long":                     forge(header, with(claims, object{"x": strings.Repeat("A", 8<<10)}), signOwn),
		"spaces":                        " " + valid + " ",
		"JSON serialization":            `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"claims swapped":                parts[0] + "." + encode(with(claims, object{"sub": "other"})) + "." + parts[2],
		"alg none":                      forge(with(header, object{"alg": "none"}), claims, noSignature),
		"alg None":                      forge(with(header, object{"alg": "None"}), claims, noSignature),
		"alg empty":                     forge(with(header, object{"alg": ""}), claims, noSignature),
		"alg missing":                   forge(with(header, object{"alg": nil}), claims, signOwn),
		"HS256 with public key":         forge(with(header, object{"alg": "HS256"}), claims, mac(public)),
		"HS256 with public JWK":         forge(with(header, object{"alg": "HS256"}), claims, mac(publicJWK)),
		"HS256 with empty key":          forge(with(header, object{"alg": "HS256"}), claims, mac(nil)),
		"header RS256, signature EdDSA": forge(with(header, object{"alg": "RS256"}), claims, signOwn),
		"signature of another key":      forge(header, claims, signForeign),
		"embedded jwk":                  forge(with(header, object{"jwk": foreignJWK}), claims, signForeign),
		"embedded jwk, no kid":          forge(with(header, object{"jwk": foreignJWK, "kid": nil}), claims, signForeign),
		"our key embedded":              forge(with(header, object{"jwk": jose.JSONWebKey{Key: public}}), claims, signOwn),
		"jku":                           forge(with(header, object{"jku": "https://evil.test/jwks"}), claims, signOwn),
		"x5u":                           forge(with(header, object{"x5u": "https://evil.test/x"}), claims, signOwn),
		"unknown crit":                  forge(with(header, object{"crit": []string{"exp"}, "exp": now}), claims, signOwn),
		"b64 false":                     forge(with(header, object{"crit": []string{"b64"}, "b64": false}), claims, signOwn),
		"unknown kid":                   forge(with(header, object{"kid": "nobody"}), claims, signOwn),
		"kid missing":                   forge(with(header, object{"kid": nil}), claims, signOwn),
		"kid as path":                   forge(with(header, object{"kid": "../../../../dev/null"}), claims, mac(nil)), // an empty file as the key
		"kid as SQL":                    forge(with(header, object{"kid": "x' UNION SELECT 'key"}), claims, signForeign),
		"kid a number":                  forge(with(header, object{"kid": 1}), claims, signOwn),
		"typ JWT":                       forge(with(header, object{"typ": "JWT"}), claims, signOwn),
		"typ missing":                   forge(with(header, object{"typ": nil}), claims, signOwn),
		"typ a list":                    forge(with(header, object{"typ": []string{"at+jwt"}}), claims, signOwn),
		"wrong iss":                     forge(header, with(claims, object{"iss": "https://evil.test"}), signOwn),
		"iss missing":                   forge(header, with(claims, object{"iss": nil}), signOwn),
		"wrong aud":                     forge(header, with(claims, object{"aud": "desktop"}), signOwn),
		"aud missing":                   forge(header, with(claims, object{"aud": nil}), signOwn),
		"several aud":                   forge(header, with(claims, object{"aud": []string{"desktop", "posture"}}), signOwn),
		"expired":                       forge(header, with(claims, object{"exp": now}), signOwn),
		"expired within leeway":         forge(header, with(claims, object{"exp": now - 1}), signOwn), // only nbf and iat have leeway
		"exp missing":                   forge(header, with(claims, object{"exp": nil}), signOwn),
		"exp null":                      forge(header, with(claims, object{"exp": json.RawMessage("null")}), signOwn),
		"exp text":                      forge(header, with(claims, object{"exp": "tomorrow"}), signOwn),
		"exp beyond time":               forge(header, with(claims, object{"exp": json.RawMessage("1e400")}), signOwn),
		"future nbf":                    forge(header, with(claims, object{"nbf": now + 120}), signOwn),
		"nbf missing":                   forge(header, with(claims, object{"nbf": nil}), signOwn),
		"future iat":                    forge(header, with(claims, object{"iat": now + 120}), signOwn),
		"sub missing":                   forge(header, with(claims, object{"sub": nil}), signOwn),
		"sub of another user":           forge(header, with(claims, object{"sub": "somebody"}), signOwn),
		"org of another organisation":   forge(header, with(claims, object{"org": "somebody"}), signOwn),
		"sid of no session":             forge(header, with(claims, object{"sid": "nobody"}), signOwn),
		"sid missing":                   forge(header, with(claims, object{"sid": nil}), signOwn),
		"unknown role":                  forge(header, with(claims, object{"roles": []string{"root"}}), signOwn),
		"roles missing":                 forge(header, with(claims, object{"roles": nil}), signOwn),
		"claims are a list":             forge(header, []any{claims}, signOwn),
		"API token itself":              text.Reveal(),
		"signature in std base64":       parts[0] + "." + parts[1] + "." + strings.NewReplacer("-", "+", "_", "/").Replace(parts[2]) + "=",
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: ec, KeyID: kid}}, new(jose.SignerOptions).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := json.Marshal(claims)
	es, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	tokens["ES256"], _ = es.CompactSerialize()

	for name, token := range tokens {
		_, err := p.Identify(t.Context(), token, "")
		wantKind(t, name, err, fault.Unauthenticated)
	}
	// Changing any character of the signature must fail, including the last one,
	// which has unused bits.
	for i := range parts[2] {
		bad := []byte(parts[2])
		bad[i] = 'A'
		if parts[2][i] == 'A' {
			bad[i] = 'B'
		}
		_, err := p.Identify(t.Context(), parts[0]+"."+parts[1]+"."+string(bad), "")
		wantKind(t, "signature altered", err, fault.Unauthenticated)
	}
}

func TestClockAheadWithinLeewayIsAccepted(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	_, text := p.org(t, "acme")
	valid := p.access(t, text)
	header, claims := part(t, valid, 0), part(t, valid, 1)
	private := realKey(t, h, header["kid"].(string))
	ahead := h.clock.now().Unix() + 59
	token := forge(header, with(claims, object{"nbf": ahead, "iat": ahead}), func(in []byte) []byte { return ed25519.Sign(private, in) })
	if _, err := p.Identify(t.Context(), token, ""); err != nil {
		t.Error(err)
	}
}

// TestTokensOfOneServerDoNotWorkOnTheOther covers separate keys and shared
// keys.
func TestTokensOfOneServerDoNotWorkOnTheOther(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	admin, text := p.org(t, "acme")
	store := authdb.NewStore(h.db)
	claims := auth.Claims{
		Audience: "desktop", Subject: string(admin.User), Org: string(admin.Org), Roles: []string{"admin"},
		Session: string(admin.Token), ExpiresAt: h.clock.now().Add(time.Minute), Extra: map[string]any{"domain": "CORP"},
	}
	for _, realm := range []string{"desktop", "posture"} {
		desktop := auth.NewKeys(store, h.box, auth.KeyOptions{Realm: realm, Issuer: issuer, Now: h.clock.now})
		token, err := desktop.Sign(t.Context(), auth.AccessType, claims)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Identify(t.Context(), token, "")
		wantKind(t, realm+" keys: desktop token at the posture server", err, fault.Unauthenticated)
		_, err = desktop.Verify(t.Context(), p.access(t, text), auth.Want{Type: auth.AccessType, Audience: "desktop"})
		wantKind(t, realm+" keys: posture token at the desktop server", err, fault.Unauthenticated)
		got, err := desktop.Verify(t.Context(), token, auth.Want{Type: auth.AccessType, Audience: "desktop"})
		if err != nil || got.Extra["domain"] != "CORP" || got.Subject != claims.Subject {
			t.Errorf("%s keys: own token gives %+v, %v", realm, got, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	keys := auth.NewKeys(&memoryKeyStore{}, plainSealer{}, auth.KeyOptions{Realm: "r", Issuer: "i"})
	valid, err := keys.Sign(f.Context(), auth.AccessType, auth.Claims{Audience: "a", Subject: "s", ExpiresAt: time.Now().Add(20 * time.Minute)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add("..")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add(strings.Replace(valid, ".", "..", 1))
	f.Fuzz(func(t *testing.T, token string) {
		_, err := keys.Verify(t.Context(), token, auth.Want{Type: auth.AccessType, Audience: "a"})
		if token != valid && err == nil {
			t.Errorf("accepted %q", token)
		}
	})
}
