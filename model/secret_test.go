package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

const testSecret = "sk-4f9a0c77d1e25b38"

// A binding may end up in any message by mistake, at any depth and in any verb.
func TestSecretIsNeverPrinted(t *testing.T) {
	s := NewSecret(testSecret)
	b := Binding{Alias: "a", Secret: s}
	type hidden struct {
		binding Binding
		secrets []Secret
		byName  map[string]Secret
		pointer *Secret
	}
	h := hidden{b, []Secret{s}, map[string]Secret{"k": s}, &s}
	var out strings.Builder
	for _, v := range []any{s, &s, b, &b, h, &h, []any{s, b}, fmt.Errorf("%w: %v", os.ErrInvalid, s)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%50.3v"} {
			fmt.Fprintf(&out, verb, v)
		}
		fmt.Fprintln(&out, v)
		if data, err := json.Marshal(v); err == nil {
			out.Write(data)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "secret", s, "binding", b, "pointer", &s)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "secret", s, "binding", b, "pointer", &s)
	out.Write(log.Bytes())
	for _, form := range []string{testSecret, fmt.Sprintf("%x", testSecret), fmt.Sprintf("%X", testSecret), fmt.Sprint([]byte(testSecret))} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%q was printed", form)
		}
	}
	if got := fmt.Sprintf("%s %v %#v", s, s, s); got != "[secret] [secret] [secret]" {
		t.Errorf("got %s", got)
	}
	if data, err := json.Marshal(map[string]any{"v": s, "k": map[string]Secret{"x": s}}); err != nil || string(data) != `{"k":{"x":"[secret]"},"v":"[secret]"}` {
		t.Errorf("got %s, %v", data, err)
	}
	if text, err := s.MarshalText(); err != nil || string(text) != "[secret]" {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestZeroSecret(t *testing.T) {
	var s Secret
	if !s.IsZero() || !NewSecret("").IsZero() || s.Reveal() != "" || s.String() != "" || s.In("") || s.Hide("text") != "text" {
		t.Error("the zero secret is not empty")
	}
	if NewSecret("x").IsZero() {
		t.Error("a secret counts as none")
	}
}

func TestSecretHide(t *testing.T) {
	for _, tc := range []struct{ secret, text, want string }{
		{testSecret, "", ""},
		{testSecret, "nothing of it", "nothing of it"},
		{testSecret, testSecret, "[secret]"},
		{testSecret, "Bearer " + testSecret + ".", "Bearer [secret]."},
		{testSecret, testSecret + " " + testSecret, "[secret] [secret]"},
		{testSecret, testSecret + testSecret, "[secret][secret]"},
		{testSecret, "cut: " + testSecret[:12], "cut: [secret]"},
		{testSecret, "tail: " + testSecret[9:], "tail: [secret]"},
		{testSecret, "seven: " + testSecret[:7], "seven: " + testSecret[:7]},
		{testSecret, testSecret[:9] + `\u0064` + testSecret[11:], `[secret]\u0064[secret]`},
		{"key", "the key of keys", "the [secret] of [secret]s"},
		{"key", "ke", "ke"},
	} {
		if got := NewSecret(tc.secret).Hide(tc.text); got != tc.want {
			t.Errorf("Hide(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestSecretHideLeavesNoPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[ab]{1,14}`).Draw(t, "secret")
		text := rapid.StringMatching(`[abc]{0,60}`).Draw(t, "text")
		hidden := NewSecret(secret).Hide(text)
		width := min(partOfSecret, len(secret))
		for _, rest := range strings.Split(hidden, secretMark) {
			for i := 0; i+width <= len(rest); i++ {
				if strings.Contains(secret, rest[i:i+width]) {
					t.Fatalf("%q is left of %q in %q", rest[i:i+width], secret, hidden)
				}
			}
		}
	})
}

func TestResolveSecretFromTheEnvironment(t *testing.T) {
	for value, want := range map[string]string{
		testSecret:                    testSecret,
		"a":                           "a",
		"":                            "is empty",
		"two words":                   "holds white space, a control character or a character beyond ASCII",
		"line\n":                      "holds white space, a control character or a character beyond ASCII",
		"tab\t":                       "holds white space, a control character or a character beyond ASCII",
		"del\x7f":                     "holds white space, a control character or a character beyond ASCII",
		"schlüssel":                   "holds white space, a control character or a character beyond ASCII",
		strings.Repeat("k", 16<<10):   strings.Repeat("k", 16<<10),
		strings.Repeat("k", 16<<10+1): "exceeds 16384 bytes",
	} {
		t.Setenv("LOOM_TEST_SECRET", value)
		got, err := resolveSecret("env:LOOM_TEST_SECRET")
		if shown := shownSecret(got, err); shown != want {
			t.Errorf("%.20q: got %.80q, want %.80q", value, shown, want)
		}
	}
}

func shownSecret(s Secret, err error) string {
	if err != nil {
		if !s.IsZero() {
			return "a secret beside " + err.Error()
		}
		return err.Error()
	}
	return s.Reveal()
}

func TestResolveSecretRefusesOtherReferences(t *testing.T) {
	t.Setenv("LOOM_TEST_SECRET", testSecret)
	for _, reference := range []string{
		"", "env", "env:", "env:1A", "env:A-B", "env:A B", "env:A=B", "env:LOOM_TEST_SECRET ", "env:LOOM_TEST_SECRET\x00",
		"ENV:LOOM_TEST_SECRET", " env:LOOM_TEST_SECRET", "file:", "file:key", "file:./key", "file:~/key", "file:a\x00b",
		"file:/a\x00b", "/etc/key", "https://vault.example/key", "LOOM_TEST_SECRET", testSecret,
	} {
		got, err := resolveSecret(reference)
		want := "has a reference that is neither env:NAME nor file:/absolute/path"
		if shown := shownSecret(got, err); shown != want {
			t.Errorf("%q: got %q", reference, shown)
		}
	}
}

func TestResolveSecretFromAFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", testSecret, 0o600)
	link := filepath.Join(dir, "link")
	fifo := filepath.Join(dir, "fifo")
	folder := filepath.Join(dir, "folder")
	inside := filepath.Join(dir, "inside")
	for _, err := range []error{
		os.Symlink(plain, link), syscall.Mkfifo(fifo, 0o600), os.Mkdir(folder, 0o700), os.Symlink(dir, inside),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	others := "is in a file that is not private; it must belong to you and have mode 0600"
	for _, tc := range []struct{ name, path, want string }{
		{"plain", plain, testSecret},
		{"a line", file("line", testSecret+"\n", 0o600), testSecret},
		{"a line of Windows", file("crlf", testSecret+"\r\n", 0o600), testSecret},
		{"read only", file("readonly", testSecret, 0o400), testSecret},
		{"in a linked folder", filepath.Join(inside, "plain"), testSecret},
		{"two lines", file("lines", testSecret+"\n\n", 0o600), "holds white space, a control character or a character beyond ASCII"},
		{"empty", file("empty", "", 0o600), "is empty"},
		{"an empty line", file("newline", "\n", 0o600), "is empty"},
		{"of the largest size", file("large", strings.Repeat("k", 16<<10), 0o600), strings.Repeat("k", 16<<10)},
		{"too large", file("larger", strings.Repeat("k", 16<<10+1), 0o600), "is in a file that exceeds 16384 bytes"},
		{"readable by the group", file("group", testSecret, 0o640), others},
		{"readable by all", file("all", testSecret, 0o604), others},
		{"writable by all", file("writable", testSecret, 0o602), others},
		{"executable", file("executable", testSecret, 0o700), others},
		{"set user id", file("setuid", testSecret, 0o600|os.ModeSetuid), others},
		{"a link", link, "is in a file reached by a symbolic link"},
		{"a FIFO", fifo, "is in a file that is not a regular file"},
		{"a folder", folder, "is in a file that is not a regular file"},
		{"a device", "/dev/zero", "is in a file that is not a regular file"},
		{"nothing", filepath.Join(dir, "none"), "is in a file that does not exist"},
		{"behind a file", filepath.Join(plain, "x"), "is in a file that cannot be opened"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := resolveSecret("file:" + tc.path)
			if shown := shownSecret(got, err); shown != tc.want {
				t.Errorf("got %.80q, want %.80q", shown, tc.want)
			}
		})
	}
}

func TestResolveSecretFromAFileOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(testSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	got, err := resolveSecret("file:" + path)
	if shown := shownSecret(got, err); shown != "is in a file that is not private; it must belong to you and have mode 0600" {
		t.Errorf("got %q", shown)
	}
}
