package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page, and the pages of one version are the same bytes whenever they are made.
func TestPages(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := write(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{
		"loom.1", "loom-run.1", "loom-evaluate.1",
		"loom-protocols.1", "loom-protocols-list.1", "loom-protocols-show.1", "loom-protocols-check.1", "loom-protocols-compile.1",
	} {
		one, err := os.ReadFile(filepath.Join(first, page))
		if err != nil {
			t.Error(err)
			continue
		}
		two, err := os.ReadFile(filepath.Join(second, page))
		if err != nil || string(one) != string(two) {
			t.Errorf("%s differs from one time to the next: %v", page, err)
		}
	}
	run, err := os.ReadFile(filepath.Join(first, "loom-run.1"))
	if err != nil || !strings.Contains(string(run), "offline") {
		t.Errorf("the page of run does not name --offline: %v", err)
	}
	if err := write(filepath.Join(first, "nowhere")); err == nil {
		t.Error("a folder that does not exist is taken")
	}
}
