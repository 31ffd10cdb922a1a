package broker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
)

func TestWhereNobodyAnswers(t *testing.T) {
	parent := t.TempDir()
	folder := func(name, presence string) string {
		path := filepath.Join(parent, name)
		must(t, os.Mkdir(path, 0o700))
		if presence != "" {
			must(t, os.WriteFile(filepath.Join(path, presenceName), []byte(presence), 0o600))
		}
		return path
	}
	linked := folder("linked", "")
	must(t, os.Symlink(filepath.Join(folder("dead", `{"broker":"`+anID+`"}`), presenceName), filepath.Join(linked, presenceName)))
	for path, want := range map[string]string{
		"queue":                                  "not an absolute path",
		filepath.Join(parent, "none"):            "no such file",
		folder("empty", ""):                      "no such file",
		folder("garbage", "\x00"):                "this is not JSON",
		folder("nameless", "{}"):                 "names no broker",
		folder("forged", `{"broker":"../../x"}`): "names no broker",
		linked:                                   boundedfile.ErrSymbolicLink.Error(),
		filepath.Join(parent, "dead"):            "has stopped",
	} {
		if _, err := Ask(t.Context(), path, []string{"profile"}); !errors.Is(err, ErrNobody) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// silent is a broker that takes what it is asked and says nothing.
func silent(t *testing.T) *folder {
	t.Helper()
	f, err := openFolder(t.Context(), filepath.Join(t.TempDir(), "queue"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	return f
}

// first waits for the first request of a queue and gives its id.
func (f *folder) first(t *testing.T) string {
	t.Helper()
	for range 60_000 {
		names, err := f.names()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if id, ok := strings.CutSuffix(name, requestEnd); ok {
				return id
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no request in a minute")
	return ""
}

func TestAskEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		ends func(t *testing.T, f *folder, cancel context.CancelFunc)
		want error
	}{
		{"when its caller does", func(_ *testing.T, _ *folder, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"when nothing comes", func(*testing.T, *folder, context.CancelFunc) {}, ErrNobody},
		{"when the broker does", func(_ *testing.T, f *folder, _ context.CancelFunc) { _ = f.presence.Close() }, ErrNobody},
		{"when the reply is malformed", func(t *testing.T, f *folder, _ context.CancelFunc) {
			must(t, os.WriteFile(f.file(f.first(t)+replyEnd), []byte("x"), 0o600))
		}, errReply},
		{"when the reply is a link", func(t *testing.T, f *folder, _ context.CancelFunc) {
			must(t, os.Symlink("/etc/passwd", f.file(f.first(t)+replyEnd)))
		}, boundedfile.ErrSymbolicLink},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := silent(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error)
			go func() {
				_, err := Ask(ctx, f.path, []string{"profile"})
				result <- err
			}()
			f.first(t)
			tc.ends(t, f, cancel)
			if err := <-result; !errors.Is(err, tc.want) {
				t.Errorf("%s: %v", tc.name, err)
			}
			if names, err := f.names(); err != nil || len(names) != 1 {
				t.Errorf("%s: the queue holds %q, %v", tc.name, names, err)
			}
		})
	}
}

func TestAskAsksNothingThatCannotBeAnswered(t *testing.T) {
	f := silent(t)
	if r, err := Ask(t.Context(), f.path, []string{strings.Repeat("x", int(MaxRequestBytes))}); err != nil || r.Code != Refused {
		t.Errorf("too much: %+v, %v", r, err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := Ask(ctx, f.path, []string{"profile"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("too late: %v", err)
	}
}
