package sqldb

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"vigil/internal/fault"
)

// closedConnError is like the error that pgx returns for a connection that it has closed.
type closedConnError struct{ error }

func (closedConnError) SafeToRetry() bool { return true }

func TestLostConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		io.ErrUnexpectedEOF, closedConnError{errors.New("conn closed")},
		&pgconn.PgError{Code: "57P01"}, // admin_shutdown
		&pgconn.PgError{Code: "57P03"}, // cannot_connect_now
		&pgconn.PgError{Code: "08006"}, // connection_failure
	} {
		if got := classify(fmt.Errorf("commit transaction: %w", err)); !fault.Is(got, fault.Unavailable) {
			t.Errorf("%v is %v, want %v", err, fault.KindOf(got), fault.Unavailable)
		}
	}
	if got := classify(&pgconn.PgError{Code: "42601"}); fault.KindOf(got) != fault.Internal {
		t.Errorf("a syntax error is %v, want %v", fault.KindOf(got), fault.Internal)
	}
}
