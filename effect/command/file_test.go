package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// one is a bindings file of one binding with these members.
func one(members string) string { return `{"protocol":"p@1","bindings":[{` + members + `}]}` }

const plain = `"action":"a","argv":["x"]`

// Each case is a bindings file that is refused, and a part of what is said (6.4, D14, D16; 145).
var refusedFiles = []struct{ name, file, want string }{
	{"nothing", ``, "there is no JSON value"},
	{"no object", `[]`, "line 1, column 1: the file must be an object, not a list"},
	{"no JSON", `{"protocol":p}`, "this is not JSON"},
	{"two documents", one(plain) + `{}`, "something follows"},
	{"bad UTF-8", one(`"action":"` + "\xff" + `","argv":["x"]`), "not UTF-8"},
	{"too deep", one(plain + `,"arguments":{"const":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`), "nested too deeply"},

	{"no protocol", `{"bindings":[]}`, "line 1, column 1: the file has no protocol"},
	{"no bindings", `{"protocol":"p@1"}`, "the file has no bindings"},
	{"an unknown member", `{"protocol":"p@1","bindings":[],"shell":true}`, `the file has no member "shell"`},
	{"a member in other letters", `{"Protocol":"p@1","bindings":[]}`, `the file has no member "Protocol"`},
	{"a member twice", `{"protocol":"p@1","protocol":"p@1","bindings":[]}`, "written twice"},
	{"a null member", `{"protocol":"p@1","bindings":[],"timeout_seconds":null}`, "timeout_seconds of the file is null"},
	{"a protocol that is no text", `{"protocol":1,"bindings":[]}`, "protocol must be text, not a number"},
	{"bindings that are no list", `{"protocol":"p@1","bindings":{}}`, "bindings must be a list, not a map"},

	{"no time", `{"protocol":"p@1","bindings":[],"timeout_seconds":0}`, "whole number from 1 to 3600"},
	{"less than no time", `{"protocol":"p@1","bindings":[],"timeout_seconds":-1}`, "whole number from 1 to 3600"},
	{"a part of a second", `{"protocol":"p@1","bindings":[],"timeout_seconds":1.5}`, "whole number from 1 to 3600"},
	{"a fraction of nothing", `{"protocol":"p@1","bindings":[],"timeout_seconds":1.0}`, "whole number from 1 to 3600"},
	{"an exponent", `{"protocol":"p@1","bindings":[],"timeout_seconds":1e1}`, "whole number from 1 to 3600"},
	{"more than an hour", `{"protocol":"p@1","bindings":[],"timeout_seconds":3601}`, "whole number from 1 to 3600"},
	{"more than a machine counts", `{"protocol":"p@1","bindings":[],"timeout_seconds":18446744073709551617}`, "whole number from 1 to 3600"},
	{"seconds in words", `{"protocol":"p@1","bindings":[],"timeout_seconds":"30"}`, "whole number from 1 to 3600"},

	{"a binding that is no object", `{"protocol":"p@1","bindings":["a"]}`, "a binding must be an object, not text"},
	{"a binding without action", one(`"argv":["x"]`), "a binding has no action"},
	{"a binding without argv", one(`"action":"a"`), "a binding has no argv"},
	{"an unknown member of a binding", one(plain + `,"env":{}`), `a binding has no member "env"`},
	{"a null member of a binding", one(plain + `,"confine":null`), "confine of a binding is null"},
	{"an action that is no text", one(`"action":["a"],"argv":["x"]`), "action must be text, not a list"},
	{"an action bound twice", `{"protocol":"p@1","bindings":[{"action":"a","argv":["x"]},{"action":"b","argv":["x"]},{"action":"a","argv":["y"]}]}`, "the action a is bound twice"},
	{"an empty argv", one(`"action":"a","argv":[]`), "the argv of a names no program"},
	{"an empty program", one(`"action":"a","argv":[""]`), "the argv of a names no program"},
	{"an argv for a shell", one(`"action":"a","argv":"x y"`), "argv of a must be a list, not text"},
	{"a word that is no text", one(`"action":"a","argv":["x",1]`), "an entry of argv of a must be text, not a number"},
	{"a null word", one(`"action":"a","argv":["x",null]`), "an entry of argv of a must be text, not null"},
	{"a NUL in a word", one(`"action":"a","argv":["x","a\u0000b"]`), "an entry of argv of a holds a NUL"},
	{"too many words", one(`"action":"a","argv":["x"` + strings.Repeat(`,""`, 1024) + `]`), "argv of a has more than 1024 entries"},

	{"confine that is no object", one(plain + `,"confine":true`), "confine of a must be an object, not true or false"},
	{"an unknown member of confine", one(plain + `,"confine":{"read":["/"]}`), `confine of a has no member "read"`},
	{"network in words", one(plain + `,"confine":{"network":"yes"}`), "network of a must be true or false, not text"},
	{"a null network", one(plain + `,"confine":{"network":null}`), "network of confine of a is null"},
	{"write that is no list", one(plain + `,"confine":{"write":"notes"}`), "write of a must be a list, not text"},
	{"a folder above", one(plain + `,"confine":{"write":[".."]}`), "relative path of a folder below"},
	{"a way up in the middle", one(plain + `,"confine":{"write":["a/../.."]}`), "relative path of a folder below"},
	{"an absolute folder", one(plain + `,"confine":{"write":["/tmp"]}`), "relative path of a folder below"},
	{"no folder", one(plain + `,"confine":{"write":[""]}`), "relative path of a folder below"},
	{"the current folder", one(plain + `,"confine":{"write":["."]}`), "relative path of a folder below"},
	{"a slash at the end", one(plain + `,"confine":{"write":["a/"]}`), "relative path of a folder below"},
	{"two slashes", one(plain + `,"confine":{"write":["a//b"]}`), "relative path of a folder below"},
	{"a folder with a NUL", one(plain + `,"confine":{"write":["a\u0000"]}`), "an entry of write of a holds a NUL"},
	{"too many folders", one(plain + `,"confine":{"write":["a"` + strings.Repeat(`,"a"`, 32) + `]}`), "write of a has more than 32 entries"},
}

func TestRefusedFiles(t *testing.T) {
	for _, tc := range refusedFiles {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Parse([]byte(tc.file))
			if err == nil {
				t.Fatalf("it is read as %+v", f)
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, want %q on one line", err, tc.want)
			}
		})
	}
}

func TestFileIsReadAsItIs(t *testing.T) {
	f, err := Parse([]byte(`{"bindings":[
		{"argv":["./a","; rm -rf /","$HOME","*",""],"action":"b"},
		{"action":"a","argv":["x"],"confine":{},"arguments":{}},
		{"action":"c","argv":["x"],"confine":{"network":true,"write":["notes","a/b"]}}
	],"timeout_seconds":3600,"protocol":"p@1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Protocol != "p@1" || f.Timeout != time.Hour || len(f.Bound) != 3 || len(f.SHA256) != 64 {
		t.Errorf("%+v", f)
	}
	if b := f.Bound[0]; b.Action != "b" || !slices.Equal(b.Argv, []string{"./a", "; rm -rf /", "$HOME", "*", ""}) || b.Arguments != nil || b.Confine != nil {
		t.Errorf("%+v", b)
	}
	if b := f.Bound[1]; b.Arguments == nil || b.Confine == nil || b.Confine.Network || b.Confine.Write != nil {
		t.Errorf("%+v", b)
	}
	if c := f.Bound[2].Confine; !c.Network || !slices.Equal(c.Write, []string{"notes", "a/b"}) {
		t.Errorf("%+v", c)
	}
	if f, err = Parse([]byte(`{"protocol":"p@1","bindings":[]}`)); err != nil || f.Timeout != time.Minute {
		t.Errorf("without a limit: %+v (%v)", f, err)
	}
}

func TestDigestIsThatOfTheBytes(t *testing.T) {
	a, errA := Parse([]byte(one(plain)))
	b, errB := Parse([]byte(one(plain) + "\n"))
	if errA != nil || errB != nil || a.SHA256 == b.SHA256 {
		t.Errorf("%v %v %+v %+v", errA, errB, a, b)
	}
}

func TestReadTakesABoundedRegularFile(t *testing.T) {
	dir := t.TempDir()
	fifo, long, good := filepath.Join(dir, "fifo"), filepath.Join(dir, "long"), filepath.Join(dir, "good")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{good: one(plain), long: one(plain) + strings.Repeat(" ", int(MaxFileBytes))} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{fifo, long, dir, filepath.Join(dir, "none")} {
		if _, err := Read(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
	if f, err := Read(good); err != nil || f.Protocol != "p@1" {
		t.Errorf("%+v (%v)", f, err)
	}
}

// Whatever a file says, reading it ends, and what is read keeps the rules.
func FuzzParse(f *testing.F) {
	for _, tc := range refusedFiles {
		f.Add([]byte(tc.file))
	}
	for _, tc := range schemas {
		f.Add([]byte(one(plain + `,"arguments":` + tc.schema)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if file.Timeout < time.Second || file.Timeout > MaxTimeout {
			t.Errorf("the limit is %v", file.Timeout)
		}
		for _, b := range file.Bound {
			if len(b.Argv) == 0 || b.Argv[0] == "" || strings.Contains(strings.Join(b.Argv, ""), "\x00") {
				t.Errorf("argv is %q", b.Argv)
			}
			if b.Arguments != nil {
				b.Arguments.check("{}")
				b.Arguments.check(`{"a":1e5}`)
			}
			if b.Confine == nil {
				continue
			}
			for _, folder := range b.Confine.Write {
				if !filepath.IsLocal(folder) || filepath.Clean(folder) != folder || folder == "." {
					t.Errorf("%q may be written", folder)
				}
			}
		}
	})
}
