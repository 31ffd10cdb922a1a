package codex

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

func TestParseAuthFile(t *testing.T) {
	access := oldAccess(time.Hour)
	with := func(members string) string { return `{"tokens":{"access_token":"` + access + `",` + members + `}}` }
	none, visible := "no Codex access token", " holds white space, a control character or a character beyond ASCII"
	for _, tc := range []struct{ name, text, want string }{
		{"as Codex writes it", authJSON(access, oldRefresh, oldID), ""},
		{"no refresh token", `{"tokens":{"access_token":"` + access + `"}}`, ""},
		{"a null refresh token", with(`"refresh_token":null`), ""},
		{"no tokens", `{"OPENAI_API_KEY":"sk-secret"}`, none},
		{"null for tokens, as after a login by key", `{"OPENAI_API_KEY":"sk-secret","tokens":null}`, none},
		{"no access token", `{"tokens":{"refresh_token":"r"}}`, none},
		{"a null access token", `{"tokens":{"access_token":null}}`, none},
		{"an empty access token", `{"tokens":{"access_token":""}}`, none},
		{"an access token somewhere else", `{"access_token":"` + access + `"}`, none},
		{"nothing", ``, "line 1, column 1: there is no JSON value"},
		{"a list", `[]`, "the file is a list instead of a map"},
		{"text for tokens", `{"tokens":"sk-secret"}`, "/tokens is text instead of a map"},
		{"a number for a token", `{"tokens":{"access_token":17}}`, "/tokens/access_token is a number instead of text"},
		{"no JWT", `{"tokens":{"access_token":"sk-secret"}}`, "the access token is not a JWT: it does not have three parts"},
		{"tokens twice", `{"tokens":{},"tokens":{"access_token":"sk-secret"}}`, "line 1, column 14: a member is written twice"},
		{"a token twice", `{"tokens":{"access_token":"a","access_token":"sk-secret"}}`, "line 1, column 31: a member is written twice"},
		{"a byte order mark", "\ufeff{}", "line 1, column 1: this is not JSON"},
		{"two values", `{} {}`, "line 1, column 4: something follows the JSON value"},
		{"a long token", `{"tokens":{"access_token":"` + strings.Repeat("A", maxToken+1) + `"}}`, "/tokens/access_token exceeds 16384 bytes"},
		{"a refresh token with a line feed", with(`"refresh_token":"sk-secret\nx"`), "/tokens/refresh_token" + visible},
		{"a header in the account", with(`"account_id":"a\r\nX: sk-secret"`), "/tokens/account_id" + visible},
		{"a long account", with(`"account_id":"` + strings.Repeat("a", 129) + `"`), "/tokens/account_id exceeds 128 bytes"},
	} {
		a, err := parseAuthFile([]byte(tc.text))
		switch {
		case tc.want == "" && (err != nil || a.access.Reveal() != access || !a.expires.Equal(noon.Add(time.Hour))):
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || err.Error() != tc.want):
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
		if err != nil && errors.Is(err, ErrNoToken) != (tc.want == none) {
			t.Errorf("%s: is ErrNoToken: %t", tc.name, !(tc.want == none))
		}
	}
}

// 7.4: what cannot be the login's file is refused at once, by Open and for the status alike.
func TestOpenRefusesWhatIsNoPrivateFile(t *testing.T) {
	text := authJSON(oldAccess(time.Hour), oldRefresh, oldID)
	path := func(make func(path string) error) string {
		path := write(t, text)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	instead := func(make func(path string) error) string {
		return path(func(path string) error { return errors.Join(os.Remove(path), make(path)) })
	}
	for _, tc := range []struct {
		name, path string
		want       error // nil where it can be read
		says       string
	}{
		{"mode 0600", write(t, text), nil, ""},
		{"several hard links, as long as nothing is renewed", path(func(p string) error { return os.Link(p, p+".other") }), nil, ""},
		{"a symbolic link", path(func(p string) error {
			return errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p))
		}), boundedfile.ErrSymbolicLink, "is a symbolic link"},
		{"mode 0640", path(func(p string) error { return os.Chmod(p, 0o640) }), boundedfile.ErrNotPrivate, "is not private"},
		{"mode 0604", path(func(p string) error { return os.Chmod(p, 0o604) }), boundedfile.ErrNotPrivate, "is not private"},
		{"a FIFO that nobody writes to", instead(func(p string) error { return syscall.Mkfifo(p, 0o600) }), boundedfile.ErrNotRegular, "is not a regular file"},
		{"a folder", instead(func(p string) error { return os.Mkdir(p, 0o700) }), boundedfile.ErrNotRegular, "is not a regular file"},
		{"exactly 1 MiB", path(func(p string) error { return os.WriteFile(p, padded(text, 1<<20), 0o600) }), nil, ""},
		{"a byte more", path(func(p string) error { return os.WriteFile(p, padded(text, 1<<20+1), 0o600) }), boundedfile.ErrTooLarge, "exceeds 1 MiB"},
		{"no file", instead(func(string) error { return nil }), ErrNoToken, "no Codex access token: there is no "},
	} {
		_, err := open(tc.path, openAI, atNoon)
		if !errors.Is(err, tc.want) || err != nil && (!strings.Contains(err.Error(), tc.path) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
		if status := inspect(tc.path, atNoon); status.Usable() != (tc.want == nil) || err != nil && status.Problem != err.Error() {
			t.Errorf("%s: status %+v", tc.name, status)
		}
	}
	if os.Geteuid() == 0 {
		foreign := path(func(p string) error { return os.Chown(p, 65534, 65534) })
		if _, err := open(foreign, openAI, atNoon); !errors.Is(err, boundedfile.ErrNotPrivate) {
			t.Errorf("a file of another user: %v", err)
		}
	}
}

func padded(text string, size int) []byte {
	return []byte(text + strings.Repeat(" ", size-len(text)))
}

// Only the token values change: order, layout, digits, escapes and members nobody knows stay.
func TestRenewedKeepsEverythingElse(t *testing.T) {
	granted := grant{access: model.NewSecret(newAccess), refresh: model.NewSecret(newRefresh), id: model.NewSecret(newID)}
	for _, tc := range []struct {
		name    string
		before  string
		granted grant
		want    string
	}{
		{"all three", authJSON(oldAccess(0), oldRefresh, oldID), granted, authJSON(newAccess, newRefresh, newID)},
		{"no new refresh token", authJSON(oldAccess(0), oldRefresh, oldID), grant{access: granted.access}, authJSON(newAccess, oldRefresh, oldID)},
		{
			"an escaped token, on one line, behind wide characters, without an end",
			`{"é日":"\"tokens\"","tokens":{"refresh_token" :"\u0072","é":"\\","access_token": "` + strings.Replace(oldAccess(0), ".", `\u002e`, 1) + `"},"z":"\""}`,
			granted,
			`{"é日":"\"tokens\"","tokens":{"refresh_token" :"` + newRefresh + `","é":"\\","access_token": "` + newAccess + `"},"z":"\""}`,
		},
		{
			"null for the identity token",
			`{"tokens":{"id_token":null,"access_token":"` + oldAccess(0) + `","refresh_token":"r"}}`,
			granted,
			`{"tokens":{"id_token":null,"access_token":"` + newAccess + `","refresh_token":"` + newRefresh + `"}}`,
		},
	} {
		a, err := parseAuthFile([]byte(tc.before))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if got := string(a.renewed(tc.granted)); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}

// Of any file: the tree after a renewal is the tree before it but for the tokens, and renewing with the
// old tokens gives the old tree back.
func TestRenewedChangesNothingButTokens(t *testing.T) {
	name := rapid.StringMatching(`[a-zé日"\\]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString(`{"tokens":{`)
		extra := func() {
			text.WriteString(rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n  "}).Draw(t, "space"))
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name.Draw(t, "text"))
			text.WriteString(`"x` + rapid.StringMatching(`[0-9]{12}`).Draw(t, "member") + quoted + `" : ["` + quoted + `"] ,`)
		}
		for _, member := range rapid.Permutation([]string{
			`"access_token":"` + oldAccess(time.Hour) + `"`, `"refresh_token": "` + oldRefresh + `"`, `"id_token"	:"` + oldID + `"`,
		}).Draw(t, "order") {
			extra()
			text.WriteString(member + ",")
		}
		text.WriteString(`"last":0}}`)
		before, err := parseAuthFile([]byte(text.String()))
		if err != nil {
			t.Skip("two members drew one name")
		}
		after, err := parseAuthFile(before.renewed(grant{model.NewSecret(newAccess), model.NewSecret(newRefresh), model.NewSecret(newID)}))
		if err != nil || after.access.Reveal() != newAccess || after.refresh.Reveal() != newRefresh {
			t.Fatalf("%v\n%s", err, text.String())
		}
		back := after.renewed(grant{model.NewSecret(oldAccess(time.Hour)), model.NewSecret(oldRefresh), model.NewSecret(oldID)})
		if string(back) != text.String() {
			t.Fatalf("got\n%s\nwant\n%s", back, text.String())
		}
	})
}

// Whatever the file is: it is a login whose tokens can be replaced, or an error that quotes nothing.
func FuzzAuthFile(f *testing.F) {
	f.Add([]byte(authJSON(oldAccess(time.Hour), oldRefresh, oldID)))
	f.Add([]byte(`{"tokens":{"access_token":"` + oldAccess(time.Hour) + `"}}`))
	f.Add([]byte(`{"tokens":null}`))
	f.Add([]byte(`{"é":1,"tokens":{"refresh_token":"\"","access_token":"` + oldAccess(0) + `"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseAuthFile(text)
		if err != nil {
			return
		}
		b, err := parseAuthFile(a.renewed(grant{access: model.NewSecret(newAccess), refresh: model.NewSecret(newRefresh)}))
		if err != nil || b.access.Reveal() != newAccess || !a.refresh.IsZero() && b.refresh.Reveal() != newRefresh {
			t.Fatalf("renewed, it is no login: %v", err)
		}
		if a.accountID != b.accountID || !sameButTokens(t, text, b.text) {
			t.Errorf("more than the tokens changed in %q", text)
		}
	})
}

// sameButTokens compares two files without the three tokens.
func sameButTokens(t *testing.T, x, y []byte) bool {
	return withoutTokens(t, x) == withoutTokens(t, y)
}

func withoutTokens(t *testing.T, text []byte) string {
	root, err := strictjson.Parse(text, strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	var show func(v document.Value, pointer string)
	show = func(v document.Value, pointer string) {
		switch pointer {
		case "/tokens/access_token", "/tokens/refresh_token", "/tokens/id_token":
			return
		}
		shown.WriteString(v.Kind.String() + " " + v.Text + "\n")
		for _, item := range v.Items {
			show(item, pointer+"[]")
		}
		for _, m := range v.Members {
			shown.WriteString(m.Name + ":")
			show(m.Value, pointer+"/"+m.Name)
		}
	}
	show(root, "")
	return shown.String()
}

func TestPath(t *testing.T) {
	for _, tc := range []struct{ name, codexHome, home, want string }{ // want: the path, or the error
		{"CODEX_HOME before HOME", "/c", "/h", "/c/auth.json"},
		{"HOME", "", "/h", "/h/.codex/auth.json"},
		{"a relative CODEX_HOME (case 29)", "conf/codex", "/h", "CODEX_HOME is the relative path conf/codex; set CODEX_HOME to an absolute directory"},
		{"a dot (case 29)", ".", "/h", "CODEX_HOME is the relative path .; set CODEX_HOME to an absolute directory"},
		{"a tilde nobody expanded (case 29)", "~/.codex", "/h", "CODEX_HOME is the relative path ~/.codex; set CODEX_HOME to an absolute directory"},
		{"a relative HOME", "", "h", "HOME is the relative path h; set HOME to an absolute directory"},
		{"a relative HOME that is not used", "/c", "h", "/c/auth.json"},
		{"neither", "", "", "no Codex access token: neither CODEX_HOME nor HOME is set"},
	} {
		t.Setenv("CODEX_HOME", tc.codexHome)
		t.Setenv("HOME", tc.home)
		got, err := Path()
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
