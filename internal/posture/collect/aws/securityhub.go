package aws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/tidwall/gjson"

	"vigil/internal/fault"
	"vigil/internal/posture/collect"
)

// maxImport is how many findings one call of BatchImportFindings takes.
const maxImport = 100

// hubRoles caches the credentials of the roles that import findings.
type hubRoles struct {
	mu    sync.Mutex
	roles map[trustKey]*aws.CredentialsCache
}

// ImportFindings imports findings in the AWS Security Finding Format into Security Hub
// of a region, with the permissions of a role. It returns the reasons of the findings
// that Security Hub did not accept, by the ids of the findings.
//
// An error that is a fault states the response of AWS or a mistake in the arguments and may be
// shown to users; other errors are internal.
func (src *Source) ImportFindings(ctx context.Context, role, externalID, region string, findings []json.RawMessage) (failed map[string]string, err error) {
	credentials, p, err := src.hubRole(ctx, role, externalID)
	if err != nil {
		return nil, err
	}
	failed = map[string]string{}
	for batch := range slices.Chunk(findings, maxImport) {
		answer, err := src.importBatch(ctx, credentials, p, region, batch)
		if err != nil {
			return nil, err
		}
		for _, f := range answer.Get("FailedFindings").Array() {
			failed[f.Get("Id").String()] = f.Get("ErrorCode").String() + ": " + f.Get("ErrorMessage").String()
		}
	}
	return failed, nil
}

// hubRole returns the credentials of a role and its partition. It refuses roles that
// can be assumed without the external id, as for reading accounts.
func (src *Source) hubRole(ctx context.Context, name, externalID string) (*aws.CredentialsCache, partition, error) {
	role, err := arn.Parse(name)
	if err != nil {
		return nil, partition{}, fault.New(fault.Invalid, "%q is not the ARN of a role", name)
	}
	p, ok := partitions[role.Partition]
	if !ok {
		return nil, p, fault.New(fault.Invalid, "the partition of %s is not known", name)
	}
	key := trustKey{name, externalID}
	src.hub.mu.Lock()
	found := src.hub.roles[key]
	if found == nil {
		if found, err = src.assume(p, role, externalID); err == nil {
			if src.hub.roles == nil || len(src.hub.roles) >= 10_000 {
				src.hub.roles = map[trustKey]*aws.CredentialsCache{}
			}
			src.hub.roles[key] = found
		}
	}
	src.hub.mu.Unlock()
	if err != nil {
		return nil, p, err
	}
	if _, err = found.Retrieve(ctx); err == nil && !src.options.OwnAccount {
		err = src.checkTrust(ctx, p, role, externalID)
	}
	if errors.Is(err, collect.ErrIdentity) {
		return nil, p, fault.New(fault.Forbidden, "%v", err)
	}
	return found, p, err
}

// importBatch makes one signed call of BatchImportFindings.
func (src *Source) importBatch(ctx context.Context, credentials *aws.CredentialsCache, p partition, region string, batch []json.RawMessage) (gjson.Result, error) {
	body, err := json.Marshal(map[string]any{"Findings": batch})
	if err != nil {
		return gjson.Result{}, err
	}
	endpoint := src.options.Endpoint
	if endpoint == "" {
		endpoint = "https://securityhub." + region + ".amazonaws.com"
		if p.name == "aws-cn" {
			endpoint += ".cn"
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(endpoint, "/")+"/findings/import", bytes.NewReader(body))
	if err != nil {
		return gjson.Result{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vigil")
	session, err := credentials.Retrieve(ctx)
	if err != nil {
		return gjson.Result{}, err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, session, r, hex.EncodeToString(sum[:]), "securityhub", region, time.Now()); err != nil {
		return gjson.Result{}, err
	}
	client := src.options.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return gjson.Result{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
	if err != nil {
		return gjson.Result{}, err
	}
	got := gjson.ParseBytes(text)
	if answer.StatusCode != http.StatusOK {
		return got, importFault(answer, got)
	}
	return got, nil
}

// importFault returns the fault of a refused call.
func importFault(answer *http.Response, body gjson.Result) error {
	code := answer.Header.Get("X-Amzn-Errortype")
	if code == "" {
		code = body.Get("__type").String()
	}
	code, _, _ = strings.Cut(code, ":")
	code = code[strings.LastIndex(code, "#")+1:]
	message := body.Get("message").String()
	if message == "" {
		message = body.Get("Message").String()
	}
	text := fmt.Sprintf("Security Hub answered %d %s", answer.StatusCode, strings.TrimSpace(code+" "+message))
	switch {
	case answer.StatusCode == http.StatusTooManyRequests || strings.Contains(code, "LimitExceeded") || strings.Contains(code, "Throttl"):
		return fault.New(fault.Limited, "%s", text)
	case answer.StatusCode == http.StatusForbidden || code == "InvalidAccessException":
		// Not Invalid, so that the caller retries: Security Hub may be enabled, or the permission added, meanwhile.
		return fault.New(fault.Forbidden, "%s", text)
	case answer.StatusCode == http.StatusBadRequest:
		return fault.New(fault.Invalid, "%s", text)
	}
	return fault.New(fault.Unavailable, "%s", text)
}
