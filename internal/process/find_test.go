package process

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for file, mode := range map[string]os.FileMode{
		filepath.Join(first, "plain"):   0o600,
		filepath.Join(second, "plain"):  0o700,
		filepath.Join(first, "both"):    0o700,
		filepath.Join(second, "both"):   0o700,
		filepath.Join(first, "nowhere"): 0o600,
	} {
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(first, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(second) // where relative entries would find "both"
	for _, tc := range []struct{ name, program, list, want string }{
		{"the first that has it", "both", first + ":" + second, filepath.Join(first, "both")},
		{"one that may not be executed is passed over", "plain", first + ":" + second, filepath.Join(second, "plain")},
		{"relative and empty entries are passed over", "both", ".::./:" + first, filepath.Join(first, "both")},
		{"only relative entries", "both", ".::" + filepath.Base(second), ""},
		{"an empty list", "both", "", ""},
		{"a folder is no program", "folder", first, ""},
		{"no executable", "nowhere", first, ""},
		{"absent", "absent", first + ":" + second, ""},
		{"a name with a slash", "./both", first, ""},
		{"an empty name", "", first, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Find(tc.program, tc.list)
			if got != tc.want || (tc.want == "") != errors.Is(err, ErrNotFound) {
				t.Errorf("%q (%v), want %q", got, err, tc.want)
			}
		})
	}
}
