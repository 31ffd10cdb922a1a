package pinnedgit

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathIsTaken(t *testing.T) {
	for _, tc := range []struct{ name, path string }{
		{"a name", "a"},
		{"a folder", "a/b.yaml"},
		{"a dotted name", ".a/..b/c."},
		{"three dots", "..."},
		{"an option's form, which git reads as a path", "--upload-pack=touch x"},
		{"pathspec magic, which git reads as a path", ":(glob)*.yaml"},
		{"outside ASCII", "é/日本"},
		{"exactly 4,096 characters", strings.Repeat("é", MaxPath)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := CheckPath(tc.path); err != nil {
				t.Error(err)
			}
		})
	}
}

var refusedPaths = []struct{ name, path string }{
	{"out of the repository (case 56)", "../x"},
	{"absolute (case 56)", "/x"},
	{"an empty segment (case 56)", "a//b"},
	{"a backslash (case 56)", `a\b`},
	{"a dot (case 56)", "."},
	{"nothing (case 56)", ""},
	{"a line feed (case 56)", "a\nb"},
	{"a dot in front", "./a"},
	{"a dot in between", "a/./b"},
	{"a slash at the end", "a/"},
	{"two dots in between", "a/../b"},
	{"two dots at the end", "a/.."},
	{"NUL", "a\x00"},
	{"DEL", "a\x7f"},
	{"a C1 control", "a\u0085"},
	{"bytes that are not UTF-8", "a\xff"},
	{"4,097 characters", strings.Repeat("é", MaxPath+1)},
}

func TestPathIsRefused(t *testing.T) {
	for _, tc := range refusedPaths {
		t.Run(tc.name, func(t *testing.T) {
			if err := CheckPath(tc.path); err == nil || !strings.HasPrefix(err.Error(), "git source path: ") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestCase56RefusedPathMakesNoFolderAndStartsNoProcess(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	standInForGit(t, "touch '"+mark+"'")
	for _, tc := range refusedPaths {
		if _, err := Fetch(t.Context(), Locator{"file:///srv/a", somePin}, tc.path); err == nil {
			t.Errorf("%s: fetched", tc.name)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%s: a process was started", tc.name)
		}
	}
	w.checkNothingLeft(t)
}

func FuzzCheckPath(f *testing.F) {
	for _, tc := range refusedPaths {
		f.Add(tc.path)
	}
	f.Add("a/b")
	f.Fuzz(func(t *testing.T, p string) {
		if CheckPath(p) != nil {
			return
		}
		if p == "." || path.Clean(p) != p || !filepath.IsLocal(p) || strings.ContainsAny(p, "\\\n\x00") {
			t.Errorf("takes %q", p)
		}
	})
}
