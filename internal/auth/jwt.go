package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"vigil/internal/fault"
)

// maxJWT limits the length of tokens that are parsed; ours are under 1 KiB.
const maxJWT = 8 << 10

// Want is the type and audience that a token must have.
type Want struct {
	Type     string
	Audience string
}

// Sign signs a token of the given type. It sets the issuer, the times of issue
// and the id; the expiry is rounded down to a second.
func (k *Keys) Sign(ctx context.Context, typ string, c Claims) (string, error) {
	now := k.Now()
	c.Issuer, c.IssuedAt, c.NotBefore, c.ID = k.Issuer, now, now, uuid.NewString()
	if lifetime := c.ExpiresAt.Sub(now); lifetime <= 0 || lifetime > k.MaxLife {
		return "", fmt.Errorf("sign token: a lifetime of %s is not between 0 and %s", lifetime, k.MaxLife)
	}
	payload, err := c.encode()
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	key, err := k.signingKeyFor(ctx)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key.private, KeyID: key.id}},
		new(jose.SignerOptions).WithType(jose.ContentType(typ)))
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed.CompactSerialize()
}

// signingKeyFor returns the current signing key. If no key exists, it creates one.
func (k *Keys) signingKeyFor(ctx context.Context) (*signingKey, error) {
	v, err := k.view(ctx, keysAge)
	if err == nil && v.signing == nil {
		if err = k.Maintain(ctx); err == nil {
			v, err = k.view(ctx, keysAge)
		}
	}
	if err != nil {
		return nil, err
	}
	if v.signing == nil {
		return nil, errors.New("no signing key exists")
	}
	return v.signing, nil
}

// refusal returns the error for every invalid token; the cause is logged only.
func refusal(cause error) error {
	return fault.Wrap(fault.Unauthenticated, cause, "the access token is not valid")
}

// Verify returns the claims of a token that these keys signed, that has the
// wanted type and audience, and that is valid now. Any other token fails with
// fault.Unauthenticated; the cause is logged only.
func (k *Keys) Verify(ctx context.Context, text string, want Want) (Claims, error) {
	if len(text) > maxJWT || !isCanonical(text) {
		return Claims{}, refusal(errors.New("malformed"))
	}
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return Claims{}, refusal(err)
	}
	header := signed.Signatures[0].Protected
	if cause := checkHeader(header, want.Type); cause != nil {
		return Claims{}, refusal(cause)
	}
	key, err := k.key(ctx, header.KeyID)
	if err != nil {
		return Claims{}, err
	}
	payload, err := signed.Verify(key.jwk().Key)
	if err != nil {
		return Claims{}, refusal(err)
	}
	c, err := decodeClaims(payload)
	if err == nil {
		err = k.check(c, want.Audience)
	}
	if err != nil {
		return Claims{}, refusal(err)
	}
	return c, nil
}

// isCanonical reports whether text is three parts in canonical base64url. The
// parser accepts other encodings of the same bytes too, such as with line
// breaks.
func isCanonical(text string) bool {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		data, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(data) != part {
			return false
		}
	}
	return len(parts) == 3
}

// checkHeader refuses header members that Sign never sets. The parser already
// refuses other algorithms and critical extensions.
func checkHeader(h jose.Header, typ string) error {
	if h.JSONWebKey != nil {
		return errors.New("the header embeds a key")
	}
	if got := h.ExtraHeaders[jose.HeaderType]; got != typ {
		return fmt.Errorf("type is %v, not %s", got, typ)
	}
	for name := range h.ExtraHeaders {
		if name != jose.HeaderType {
			return fmt.Errorf("unexpected header %q", name)
		}
	}
	return nil
}

// key returns the key that a token names. An unknown name may be that of a key
// that another process just created; therefore the keys are reloaded.
func (k *Keys) key(ctx context.Context, id string) (SigningKey, error) {
	for _, maxAge := range []time.Duration{keysAge, time.Second} { // the second attempt reloads keys that are older than a second
		v, err := k.view(ctx, maxAge)
		if err != nil {
			return SigningKey{}, err
		}
		if key, ok := k.find(v, id, k.Now()); ok {
			return key, nil
		}
	}
	return SigningKey{}, refusal(errors.New("unknown key"))
}

// check validates the times and the audience. Only the start has leeway: a
// token from a machine whose clock is ahead must be accepted, an expired one
// must not.
func (k *Keys) check(c Claims, audience string) error {
	now := k.Now()
	switch {
	case c.Issuer != k.Issuer:
		return fmt.Errorf("issuer is %q", c.Issuer)
	case c.Audience == "" || c.Audience != audience:
		return fmt.Errorf("audience is %q", c.Audience)
	case c.Subject == "":
		return errors.New("no subject")
	case c.ExpiresAt.IsZero() || c.IssuedAt.IsZero() || c.NotBefore.IsZero():
		return errors.New("a time is missing")
	case !now.Before(c.ExpiresAt):
		return errors.New("expired")
	case now.Add(Leeway).Before(c.NotBefore), now.Add(Leeway).Before(c.IssuedAt):
		return errors.New("the token is not valid yet")
	}
	return nil
}
