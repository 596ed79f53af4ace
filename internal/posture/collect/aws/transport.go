package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// A transport calls AWS in one region.
type transport struct {
	*session
	region string
}

// Pages implements [collect.Transport].
func (t transport) Pages(ctx context.Context, r *resource.Request, _ string, input []byte, page func(gjson.Result) error) error {
	service, operation, ok := strings.Cut(r.Call, ".")
	if !ok {
		return fmt.Errorf("call %q must be a service and an operation", r.Call)
	}
	for answer, err := range t.client.Pages(ctx, service, operation, t.region, input) {
		switch {
		case err != nil && t.isNotOffered(ctx, err):
			return &kindError{collect.ErrNotOffered, "no such host", err}
		case err != nil:
			return classify(err, conventions{}.Permission(r))
		}
		if err := page(gjson.Parse(answer)); err != nil {
			return err
		}
	}
	return nil
}

// isNotOffered reports whether AWS does not offer a service in the region: the service has
// no host there, but EC2, which is available in every region, has. When EC2 has none
// either, our own resolver is at fault and nothing can be concluded.
func (t transport) isNotOffered(ctx context.Context, err error) bool {
	unknown, ok := errors.AsType[*net.DNSError](err)
	if !ok || !unknown.IsNotFound {
		return false
	}
	_, rest, ok := strings.Cut(unknown.Name, "."+t.region+".")
	if !ok {
		return false
	}
	_, err = t.lookupHost(ctx, "ec2."+t.region+"."+rest)
	return err == nil
}
