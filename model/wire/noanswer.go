package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomrun/loom/model"
)

// maxErrorBody bounds what is read of the words behind an error status, in bytes.
const maxErrorBody = 64 << 10

// Unreachable is the failure of a request that got no answer from an endpoint, which messages call
// whom. Otherwise is what it says of an error that is none of the usual ones: the error's own text may
// repeat what the endpoint sent.
func Unreachable(whom string, err error, otherwise string) *model.Failure {
	class, what := model.Unavailable, otherwise
	lookup, noLookup := errors.AsType[*net.DNSError](err)
	errno, system := errors.AsType[syscall.Errno](err)
	timeout, timed := errors.AsType[net.Error](err)
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case distrusted:
		class, what = model.Unsupported, "its certificate does not hold"
	case notTLS:
		class, what = model.Unsupported, "it does not speak TLS"
	case noLookup && lookup.IsNotFound:
		what = "its host name is not known"
	case noLookup:
		what = "its host name could not be looked up"
	case system:
		what = errno.Error()
	case timed && timeout.Timeout():
		what = "it took too long"
	case errors.Is(err, io.EOF):
		what = "it closed the connection"
	}
	return model.Fail(class, err, "no answer from %s: %s", whom, what)
}

// declined is the failure that an answer with a status other than 200 means.
func declined(response *http.Response) *model.Failure {
	status := response.StatusCode
	said := words(response)
	what := strings.TrimSpace(fmt.Sprintf("the endpoint answered %d %s", status, http.StatusText(status)))
	failure := said.failure(classOfStatus(status), what)
	if status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity {
		// The status of a request that is wrong; the code may say that it is something else.
		if class, known := said.class(); known {
			failure.Class = class
		}
	}
	failure.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	return failure
}

// notAStream is the failure that an answer with status 200 means when it is no event stream.
func notAStream(response *http.Response) *model.Failure {
	said := words(response)
	class, known := said.class()
	if !known {
		class = model.Malformed
	}
	return said.failure(class, "the endpoint did not answer with an event stream")
}

// words reads what an endpoint says where it does not answer, as far as it can be read.
func words(response *http.Response) endpointError {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	return readError(body)
}

// retryAfter reads the header of that name (RFC 9110, section 10.2.3): seconds or a date. What is
// neither, or in the past, counts as nothing.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
