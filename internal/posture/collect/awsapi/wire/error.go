package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithydocument "github.com/aws/smithy-go/document"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"vigil/internal/posture/collect/awsapi/model"
)

// A Failure is the decoded error response of a call.
type Failure struct {
	Code      string
	Message   string
	RequestID string
	Region    string // region of the bucket, if S3 returns it
}

// maxMessage is the number of bytes to which messages are truncated, at a character boundary.
const maxMessage = 2000

// DecodeFailure decodes an error response. If the response contains no code, the code is the text
// of its HTTP status, such as NotFound.
func DecodeFailure(op *model.Operation, status int, header http.Header, body []byte) Failure {
	var f Failure
	switch op.Service.Protocol {
	case model.JSON, model.RestJSON:
		f = jsonFailure(header, body)
	case model.CBOR:
		f = cborFailure(op, status, header, body)
	default:
		f = xmlFailure(body)
	}
	// This header has the code of the query protocol: "AWS.SimpleQueueService.NonExistentQueue;Sender".
	if code, _, ok := strings.Cut(header.Get("X-Amzn-Query-Error"), ";"); ok && op.Service.QueryCompatible && code != "" {
		f.Code = code
	}
	if f.Code == "" {
		f.Code = strings.NewReplacer(" ", "", "-", "", "'", "").Replace(http.StatusText(status))
	}
	if f.Code == "" {
		f.Code = "UnknownError"
	}
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Request-Id", "X-Amz-Cf-Id"} {
		if f.RequestID == "" {
			f.RequestID = header.Get(name)
		}
	}
	if region := header.Get("X-Amz-Bucket-Region"); region != "" {
		f.Region = region
	}
	f.Message = strings.ToValidUTF8(f.Message[:min(len(f.Message), maxMessage)], "")
	return f
}

func jsonFailure(header http.Header, body []byte) Failure {
	var parsed struct {
		Type    string          `json:"__type"`
		Code    json.RawMessage `json:"code"` // also "Code"; not always a string
		Message string          `json:"message"`
		Other   string          `json:"errorMessage"`
	}
	_ = json.Unmarshal(body, &parsed) // malformed members are ignored
	var f Failure
	var code string
	_ = json.Unmarshal(parsed.Code, &code)
	for _, c := range []string{header.Get("X-Amzn-Errortype"), parsed.Type, code} {
		if f.Code == "" {
			f.Code = bareCode(c)
		}
	}
	f.Message = parsed.Message
	if f.Message == "" {
		f.Message = parsed.Other
	}
	return f
}

// bareCode removes the namespace before a code and the URL after it.
func bareCode(code string) string {
	code, _, _ = strings.Cut(code, ":")
	if _, name, ok := strings.Cut(code, "#"); ok {
		code = name
	}
	return code
}

// xmlFailure reads the first Error element, and the request id anywhere in the document.
func xmlFailure(body []byte) Failure {
	var f Failure
	s := &scanner{b: body}
	inError := 0 // depth of the Error element; 0 before it, -1 after it
	for {
		t, err := s.next()
		if err != nil || t == tokenEOF {
			return f
		}
		if t == tokenEnd {
			if inError > len(s.open) {
				inError = -1
			}
			continue
		}
		var to *string
		name := string(s.name)
		switch {
		case name == "RequestId" || name == "RequestID" || name == "requestId":
			to = &f.RequestID
		case name == "Error" && inError == 0:
			inError = len(s.open)
		case inError > 0 && len(s.open) == inError+1:
			to = map[string]*string{"Code": &f.Code, "Message": &f.Message, "Region": &f.Region}[name]
		}
		if to == nil {
			continue
		}
		text, err := s.value()
		if err != nil {
			return f
		}
		if *to == "" {
			*to = string(text)
		}
	}
}

func cborFailure(op *model.Operation, status int, header http.Header, body []byte) Failure {
	s, err := schemaOf(op)
	if err != nil || len(body) == 0 {
		return Failure{}
	}
	answer := &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body))}}
	err = s.protocol.DeserializeResponse(context.Background(), s.operation, noErrors, answer, &document{})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() != "UnknownError" {
		return Failure{Code: api.ErrorCode(), Message: api.ErrorMessage()}
	}
	return Failure{}
}

func appendDocument(b []byte, v smithydocument.Value) ([]byte, error) {
	var value any = v
	if o, ok := v.(smithydocument.Opaque); ok {
		value = o.Value
	}
	text, err := json.Marshal(value)
	return append(b, text...), err
}
