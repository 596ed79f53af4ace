package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// An Exchange is one parsed call that a cloud is about to answer.
type Exchange struct {
	Call Call
	// Refuse sends the cloud's error response for a fault: Throttle, Deny, Expire,
	// Off or Fail.
	Refuse func(w http.ResponseWriter, f Fault)
	// Answer sends the response.
	Answer func(w http.ResponseWriter)
}

// Serve answers a call, or injects a fault.
func (f *Faults) Serve(w http.ResponseWriter, r *http.Request, x Exchange) {
	delay, injected := f.decide(x.Call)
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler) // an end without panic would send an empty response
		}
	}
	if injected == nil {
		x.Answer(w)
		return
	}
	switch injected.Kind {
	case Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case Reset:
		panic(http.ErrAbortHandler)
	case Garbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body>\x00\xff This is not the answer you expect {[\x01</body>"))
	case Half:
		half(w, x.Answer)
		panic(http.ErrAbortHandler)
	case Stall:
		half(w, x.Answer)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	default:
		x.Refuse(w, *injected)
	}
}

// half sends the first half of a response.
func half(w http.ResponseWriter, answer func(http.ResponseWriter)) {
	buffered := buffer{ResponseWriter: w, status: http.StatusOK}
	answer(&buffered)
	w.Header().Set("Content-Length", strconv.Itoa(len(buffered.body)))
	w.WriteHeader(buffered.status)
	_, _ = w.Write(buffered.body[:len(buffered.body)/2])
	_ = http.NewResponseController(w).Flush()
}

// buffer buffers a response.
type buffer struct {
	http.ResponseWriter
	status int
	body   []byte
}

func (b *buffer) WriteHeader(status int) { b.status = status }

func (b *buffer) Write(p []byte) (int, error) {
	b.body = append(b.body, p...)
	return len(p), nil
}

// routes adds the routes about faults to the admin host:
//
//	GET    /faults       lists the active faults
//	POST   /faults       adds one
//	DELETE /faults       removes all
//	DELETE /faults/{id}  removes one
//	GET    /calls        returns how often each call was made
func (f *Faults) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, f.List()) })
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		var fault Fault
		if err := json.NewDecoder(r.Body).Decode(&fault); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id, err := f.Add(fault)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		writeJSON(w, map[string]string{"id": id})
	})
	mux.HandleFunc("DELETE /faults", func(http.ResponseWriter, *http.Request) { f.Remove("") })
	mux.HandleFunc("DELETE /faults/{id}", func(_ http.ResponseWriter, r *http.Request) { f.Remove(r.PathValue("id")) })
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) {
		type count struct {
			Call
			Count int `json:"count"`
		}
		all := []count{}
		for call, n := range f.Calls() {
			all = append(all, count{call, n})
		}
		writeJSON(w, all)
	})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
