// Command covergate reads a coverage profile, as go test -coverprofile writes
// it, on its standard input and prints each block of the packages named by its
// arguments that no test ran, as file:line.column-line.column. It exits 1 when
// there is one, and also when the profile knows nothing of a package: a
// misspelt name must not pass.
//
//	covergate ./label ./protocol < cover.out
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

const modulePath = "github.com/loomrun/loom"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: covergate PACKAGE... < PROFILE")
		os.Exit(2)
	}
	report, err := uncovered(os.Stdin, os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "covergate: %v\n", err)
		os.Exit(1)
	}
	for _, line := range report {
		fmt.Println(line)
	}
	if len(report) > 0 {
		os.Exit(1)
	}
}

// block is a run of statements in a file of the module.
type block struct {
	file                                 string // below the module
	startLine, startCol, endLine, endCol int
}

func (b block) String() string {
	return fmt.Sprintf("%s:%d.%d-%d.%d", b.file, b.startLine, b.startCol, b.endLine, b.endCol)
}

// uncovered gives one line for each block of the packages that no test ran, in
// the order of the source, and one for each package without a block. A profile
// of several test programs names a block once for each; one run is enough.
func uncovered(profile io.Reader, packages []string) ([]string, error) {
	ran := map[block]bool{}
	seen := map[string]bool{} // packages that have a block
	lines := bufio.NewScanner(profile)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if !strings.HasPrefix(lines.Text(), "mode: ") {
				return nil, errors.New("not a coverage profile: the first line is not a mode line")
			}
			continue
		}
		b, statements, count, err := parseLine(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("profile line %d: %w", n, err)
		}
		seen[path.Dir(b.file)] = true
		if statements > 0 {
			ran[b] = ran[b] || count > 0
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}

	var missed []block
	var report []string
	for _, p := range packages {
		dir := path.Clean(p)
		if !seen[dir] {
			report = append(report, fmt.Sprintf("%s: the profile has no statement of this package", dir))
		}
		for b, ok := range ran {
			if !ok && path.Dir(b.file) == dir {
				missed = append(missed, b)
			}
		}
	}
	slices.SortFunc(missed, func(a, b block) int {
		return cmp.Or(
			cmp.Compare(a.file, b.file),
			cmp.Compare(a.startLine, b.startLine),
			cmp.Compare(a.startCol, b.startCol),
			cmp.Compare(a.endLine, b.endLine),
			cmp.Compare(a.endCol, b.endCol),
		)
	})
	for _, b := range missed {
		report = append(report, b.String())
	}
	return report, nil
}

// parseLine reads a line of a profile:
//
//	IMPORT/PATH/FILE.go:LINE.COL,LINE.COL STATEMENTS COUNT
//
// The file is split off at the last colon. A file outside the module keeps its
// whole import path.
func parseLine(line string) (b block, statements, count int, err error) {
	colon := strings.LastIndexByte(line, ':')
	if colon < 0 {
		return block{}, 0, 0, fmt.Errorf("no file in %q", line)
	}
	b.file = strings.TrimPrefix(line[:colon], modulePath+"/")
	numbers := strings.FieldsFunc(line[colon+1:], func(r rune) bool { return r == '.' || r == ',' || r == ' ' })
	into := []*int{&b.startLine, &b.startCol, &b.endLine, &b.endCol, &statements, &count}
	if len(numbers) != len(into) {
		return block{}, 0, 0, fmt.Errorf("%d numbers in %q, want %d", len(numbers), line, len(into))
	}
	for i, text := range numbers {
		if *into[i], err = strconv.Atoi(text); err != nil {
			return block{}, 0, 0, fmt.Errorf("a number of %q: %w", line, err)
		}
	}
	return b, statements, count, nil
}
