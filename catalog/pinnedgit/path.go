package pinnedgit

import (
	"errors"
	"fmt"
	"strings"
)

// MaxPath is the longest path taken, in characters (governed-runs 2.7).
const MaxPath = 4096

// CheckPath reports whether path can name a file in a repository (governed-runs 2.7): relative, of
// at most MaxPath characters, segments divided by '/', and none of them empty, "." or "..". No
// backslash and no control character may stand in it. It says nothing about whether there is such a
// file. An error never repeats the path.
//
// A path may open with '-': git is never given one where it reads options.
func CheckPath(path string) error {
	if err := checkPath(path); err != nil {
		return fmt.Errorf("git source path: %w", err)
	}
	return nil
}

func checkPath(path string) error {
	if err := checkText(path, MaxPath); err != nil {
		return err
	}
	switch {
	case path == "":
		return errors.New("name a file of the repository")
	case strings.HasPrefix(path, "/"):
		return errors.New("must be relative to the top of the repository")
	case strings.Contains(path, `\`):
		return errors.New(`'\' is not taken; divide folders by '/'`)
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".", "..":
			return errors.New(`a segment is empty, "." or ".."`)
		}
	}
	return nil
}
