package canned

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/server"
)

// amazon finds operations of AWS.
type amazon struct{ router *server.Router }

// newAWS returns a finder of the given calls, whose names are service.Operation.
func newAWS(calls []string) (*amazon, error) {
	seen := map[string]bool{}
	var operations []*model.Operation
	for _, call := range calls {
		service, name, ok := strings.Cut(call, ".")
		if !ok || seen[call] {
			continue
		}
		seen[call] = true
		op, err := model.Find(service, name)
		if err != nil {
			return nil, err
		}
		operations = append(operations, op)
	}
	return &amazon{server.NewRouter(operations)}, nil
}

// find returns the operations that a request may mean.
func (a *amazon) find(r *http.Request, body []byte) (all []request) {
	for _, call := range a.router.Find(r, body) {
		input, err := json.Marshal(call.Input)
		if err != nil {
			continue
		}
		all = append(all, requestOf(call.Operation, input))
	}
	return all
}

func requestOf(op *model.Operation, input []byte) request {
	call := op.Service.Name + "." + op.Name
	refuse := func(w http.ResponseWriter, f failure) {
		if f.code == notEnabled {
			f.code = "OptInRequired"
		}
		header, body := server.EncodeError(op, f.code, f.message)
		send(w, header, f.status, body)
	}
	write := func(w http.ResponseWriter, answer json.RawMessage) {
		values, err := outputOf(op, answer)
		if err != nil {
			refuse(w, failure{http.StatusBadRequest, "ValidationException", err.Error()})
			return
		}
		header, body := server.Encoder{}.Encode(op, values)
		send(w, header, http.StatusOK, body)
	}
	return request{call: call, address: call, input: input, write: write, refuse: refuse}
}

// CheckAWS fails when an answer of an AWS operation does not have the form of its model.
func CheckAWS(call string, answer any) error {
	service, name, _ := strings.Cut(call, ".")
	op, err := model.Find(service, name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = outputOf(op, text)
	return err
}

func outputOf(op *model.Operation, answer []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	values := map[string]any{}
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	return server.Output(op, values)
}

func send(w http.ResponseWriter, header http.Header, status int, body []byte) {
	for name, values := range header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// readBody returns the body of a request and keeps it readable.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
