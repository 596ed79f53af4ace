package server

import (
	"net/http"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
)

// EncodeError encodes an error response of an operation: headers and body.
func EncodeError(op *model.Operation, code, message string) (http.Header, []byte) {
	header := http.Header{}
	w := &writer{protocol: op.Service.Protocol}
	inner := func() {
		w.open("Error", "")
		w.element("Code", "", code)
		w.element("Message", "", message)
		w.close("Error")
	}
	switch {
	case w.protocol == model.EC2:
		w.open("Response", "")
		w.open("Errors", "")
		inner()
		w.close("Errors")
		w.element("RequestID", "", "an-id")
		w.close("Response")
	case w.protocol == model.RestXML && strings.HasPrefix(op.Service.Name, "s3"):
		inner()
	case w.protocol == model.Query, w.protocol == model.RestXML:
		w.open("ErrorResponse", "")
		inner()
		w.element("RequestId", "", "an-id")
		w.close("ErrorResponse")
	default:
		header.Set("X-Amzn-Errortype", code)
		w.marshal(map[string]string{"__type": code, "message": message})
	}
	return header, w.Bytes()
}
