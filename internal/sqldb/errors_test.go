package sqldb

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"vigil/internal/fault"
)

// refused is an error that pgx returns for a connection that it has closed.
type refused struct{ error }

func (refused) SafeToRetry() bool { return true }

func TestLostConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		io.ErrUnexpectedEOF, refused{errors.New("conn closed")},
		&pgconn.PgError{Code: "57P01"}, &pgconn.PgError{Code: "57P03"}, &pgconn.PgError{Code: "08006"},
	} {
		if got := classify(fmt.Errorf("commit transaction: %w", err)); !fault.Is(got, fault.Unavailable) {
			t.Errorf("%v is %v", err, fault.KindOf(got))
		}
	}
	if got := classify(&pgconn.PgError{Code: "42601"}); fault.KindOf(got) != fault.Internal {
		t.Errorf("a syntax error is %v", fault.KindOf(got))
	}
}
