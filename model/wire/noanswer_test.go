package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loomrun/loom/model"
)

func TestUnreachableWords(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "secret-host", IsNotFound: true}}, "its host name is not known"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "secret-host", IsTimeout: true}}, "its host name could not be looked up"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, "it took too long"},
		{io.EOF, "it closed the connection"},
		{io.ErrUnexpectedEOF, "unexpected EOF"},
	} {
		if got := Unreachable("the endpoint", tc.err, tc.err.Error()); got.Detail != "no answer from the endpoint: "+tc.want || got.Class != model.Unavailable || !errors.Is(got, tc.err) {
			t.Errorf("%v: got %v", tc.err, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a bubble's time starts with the year 2000
		for value, want := range map[string]time.Duration{
			"":                              0,
			"0":                             0,
			"30":                            30 * time.Second,
			"-1":                            0,
			"1.5":                           0,
			"soon":                          0,
			"99999999999999999999":          0,
			"Sat, 01 Jan 2000 00:01:00 GMT": time.Minute,
			"Fri, 31 Dec 1999 23:59:59 GMT": 0,
		} {
			if got := retryAfter(value); got != want {
				t.Errorf("%q: got %s, want %s", value, got, want)
			}
		}
	})
}
