package heartbeat

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Credential is the key and certificate of a machine.
type Credential struct {
	Key       crypto.Signer
	Enrolment Enrolment
}

// ServerTrust configures how a machine verifies the server. The zero value uses
// the system's roots.
type ServerTrust struct {
	Roots      *x509.CertPool
	Thumbprint string // SHA-256 of the server's certificate, in hex; colons are ignored
}

// Client sends the requests of one machine. It is safe for concurrent use.
type Client struct {
	server    string
	trust     ServerTrust
	transport *http.Transport
}

// NewClient returns a client of the server at an https URL. c is the credential of
// an enrolled machine; a client that only enrols a machine has none: nil.
func NewClient(server string, trust ServerTrust, c *Credential) (*Client, error) {
	if !strings.HasPrefix(server, "https://") {
		return nil, fmt.Errorf("the server's address %q must begin with https://", server)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust.Roots}
	if trust.Thumbprint != "" {
		pin(config, trust.Thumbprint)
	}
	if c != nil {
		block, _ := pem.Decode([]byte(c.Enrolment.Certificate))
		if block == nil {
			return nil, errors.New("the certificate of the enrolment is not PEM")
		}
		config.Certificates = []tls.Certificate{{Certificate: [][]byte{block.Bytes}, PrivateKey: c.Key}}
	}
	return &Client{
		server: strings.TrimSuffix(server, "/"),
		trust:  trust,
		transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSClientConfig:     config,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns:        1,
			IdleConnTimeout:     2 * time.Minute,
			ForceAttemptHTTP2:   false, // one small request per interval does not need HTTP/2
		},
	}, nil
}

// pin makes config accept only the certificate with the thumbprint, regardless
// of its issuer.
func pin(config *tls.Config, thumbprint string) {
	want := strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(thumbprint))
	config.InsecureSkipVerify = true // the thumbprint is checked instead
	config.VerifyConnection = func(state tls.ConnectionState) error {
		sum := sha256.Sum256(state.PeerCertificates[0].Raw)
		if hex.EncodeToString(sum[:]) != want {
			return errors.New("the server's certificate does not have the expected thumbprint")
		}
		return nil
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Enrol generates a key and exchanges a token for a certificate.
func (c *Client) Enrol(ctx context.Context, token string) (Credential, error) {
	return c.certify(ctx, "/rest/agent/v1/enroll", func(csr string) any { return EnrolRequest{Token: token, CSR: csr} })
}

// Renew generates a new key and requests a new certificate.
func (c *Client) Renew(ctx context.Context) (Credential, error) {
	return c.certify(ctx, "/rest/agent/v1/renew", func(csr string) any { return RenewRequest{CSR: csr} })
}

// AgentStatus requests the server's record of this machine.
func (c *Client) AgentStatus(ctx context.Context) (AgentStatus, error) {
	var s AgentStatus
	err := c.call(ctx, http.MethodGet, "/rest/agent/v1/self", nil, &s)
	return s, err
}

// Beat sends a report.
func (c *Client) Beat(ctx context.Context, path string, report any) (Receipt, error) {
	var r Receipt
	err := c.call(ctx, http.MethodPost, path, report, &r)
	return r, err
}

func (c *Client) certify(ctx context.Context, path string, request func(csr string) any) (Credential, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Credential{}, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return Credential{}, err
	}
	csr := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	cred := Credential{Key: key}
	err = c.call(ctx, http.MethodPost, path, request(string(csr)), &cred.Enrolment)
	return cred, err
}

// A Refusal is a response with a status other than 200 and 201.
type Refusal struct {
	Status  int
	Message string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the server answered %d: %s", r.Status, r.Message)
}

// maxAnswer limits the size of responses; it is far above any expected one.
const maxAnswer = 64 << 10

func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.transport.RoundTrip(request) // RoundTrip does not follow redirects
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		var problem struct {
			Message string `json:"error_message"`
		}
		_ = json.Unmarshal(got, &problem) // a proxy may answer with another body
		return &Refusal{Status: response.StatusCode, Message: problem.Message}
	}
	return json.Unmarshal(got, answer)
}
