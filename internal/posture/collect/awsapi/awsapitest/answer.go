package awsapitest

import (
	"net/http"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/server"
)

// Answer encodes an output as the service would: headers and body. The service must have
// an XML or JSON protocol. It adds to JSON objects a member that is not in the
// model. Decoders must ignore this member.
func Answer(op *model.Operation, output map[string]any) (http.Header, []byte) {
	return server.Encoder{UnknownMembers: true}.Encode(op, output)
}
