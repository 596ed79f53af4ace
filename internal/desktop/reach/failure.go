package reach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"vigil/internal/desktop"
	"vigil/internal/outbound"
)

// Failure classifies an error from using an endpoint. The reason begins with the
// endpoint's name.
func Failure(endpoint string, err error) *desktop.Failure {
	if f, ok := errors.AsType[*desktop.Failure](err); ok {
		return f
	}
	fail := func(c desktop.Cause, reason string) *desktop.Failure {
		return &desktop.Failure{Cause: c, Reason: fmt.Sprintf("%s %s", endpoint, reason), Err: err}
	}
	var dns *net.DNSError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, outbound.ErrRefused):
		return fail(desktop.Denied, "has an address that is never probed")
	case errors.As(err, &dns):
		return fail(desktop.Unreachable, "has a name that does not resolve")
	case isCertificate(err):
		return fail(desktop.Untrusted, "shows a certificate that is not trusted")
	case errors.As(err, &record):
		return fail(desktop.Broken, "does not speak TLS")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return fail(desktop.Unreachable, "does not answer in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(desktop.Unreachable, "refuses connections")
	case isNetwork(err):
		return fail(desktop.Unreachable, "does not answer")
	}
	return fail(desktop.Broken, "answers with an error: "+err.Error())
}

func isCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &invalid) || errors.As(err, &hostname)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func isNetwork(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET)
}
