package azure

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"vigil/internal/sim/gateway"
)

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("x-ms-ratelimit-remaining-subscription-reads", "11999")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// retryAfter sets the Retry-After header if the fault has one.
func retryAfter(w http.ResponseWriter, f gateway.Fault) {
	if f.Kind == gateway.Throttle && f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(time.Duration(f.RetryAfter).Seconds())))
	}
}
