package aws_test

import (
	"net/http"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"vigil/internal/posture/collect/awsapi/model"
)

// moduleAnswer returns a response in the protocol of the SDK module. The protocol is the
// same as ours except for CloudWatch: the module uses CBOR, we use JSON.
func moduleAnswer(op *model.Operation, output map[string]any, header http.Header, body []byte) (http.Header, []byte) {
	if op.Service.Name != "cloudwatch" {
		return header, body
	}
	return http.Header{"Smithy-Protocol": {"rpc-v2-cbor"}, "Content-Type": {"application/cbor"}}, cbor.Encode(inCBOR(output))
}

// inCBOR converts a generated value to CBOR.
func inCBOR(v any) cbor.Value {
	switch v := v.(type) {
	case map[string]any:
		m := cbor.Map{}
		for k, e := range v {
			m[k] = inCBOR(e)
		}
		return m
	case []any:
		var l cbor.List
		for _, e := range v {
			l = append(l, inCBOR(e))
		}
		return l
	case string:
		return cbor.String(v)
	case bool:
		return cbor.Bool(v)
	case int64:
		if v < 0 {
			return cbor.NegInt(uint64(-(v + 1)) + 1) // the absolute value, also of the smallest number
		}
		return cbor.Uint(v)
	case float64:
		return cbor.Float64(v)
	case []byte:
		return cbor.Slice(v)
	case time.Time:
		return &cbor.Tag{ID: 1, Value: cbor.Float64(float64(v.UnixMilli()) / 1e3)} // tag 1: seconds since 1970
	}
	panic(v)
}
