package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// Limits of a folder that is a source.
const (
	MaxFiles = 5_000_000
	MaxDepth = 64 // folders within folders
)

// Files lists the regular files below root, or root itself where it is a file, in order of their names. Symbolic links and special
// files are not followed or listed, names that are not UTF-8 neither. Want, given a slash-separated path below root, picks files, and may be called by several
// goroutines at once; enter, given a folder, says whether to look into it (nil: all but those that begin with a dot).
func Files(ctx context.Context, root string, want, enter func(path string) bool) iter.Seq2[Container, error] {
	return files(ctx, root, want, enter, false)
}

// FixedFiles is [Files] for files that are never changed once they have their name, as those of a Maildir: they are not asked
// about, which is most of the time of listing them. Each counts as one byte.
func FixedFiles(ctx context.Context, root string, want, enter func(path string) bool) iter.Seq2[Container, error] {
	return files(ctx, root, want, enter, true)
}

// fixed is the stamp of a file that never changes.
const fixed = "fixed"

func files(ctx context.Context, root string, want, enter func(path string) bool, unasked bool) iter.Seq2[Container, error] {
	return func(yield func(Container, error) bool) {
		info, err := os.Stat(root)
		if err != nil {
			yield(Container{}, err)
			return
		}
		if !info.IsDir() {
			if !info.Mode().IsRegular() {
				yield(Container{}, fmt.Errorf("%s is neither a file nor a folder", root))
				return
			}
			yield(Container{Name: ".", Stamp: stamp(info), Size: info.Size()}, nil)
			return
		}
		w := walk{ctx: ctx, root: root, want: want, enter: enter, yield: yield, unasked: unasked}
		w.folder("", 0)
	}
}

// maxLooked is how many files of a folder are looked at to see what the folder holds.
const maxLooked = 5000

// Any says whether one of the first few thousand files below root, or root itself where it is a file, is what is looked for. Enter is
// that of [Files].
func Any(root string, enter func(path string) bool, is func(Container) bool) bool {
	looked := 0
	for c, err := range Files(context.Background(), root, func(string) bool { return true }, enter) {
		if looked++; err != nil || looked > maxLooked {
			return false
		}
		if is(c) {
			return true
		}
	}
	return false
}

// Path is the path of a container of [Files].
func Path(root string, c Container) string {
	if c.Name == "." {
		return root
	}
	return filepath.Join(root, filepath.FromSlash(c.Name))
}

type walk struct {
	ctx         context.Context
	root        string
	want, enter func(path string) bool
	yield       func(Container, error) bool
	unasked     bool
	files       int
}

// folder lists one folder and those in it; it says whether to go on.
func (w *walk) folder(below string, depth int) bool {
	if err := w.ctx.Err(); err != nil {
		return w.fail(err)
	}
	if depth > MaxDepth {
		return w.fail(fmt.Errorf("%s: more than %d folders within each other", filepath.Join(w.root, below), MaxDepth))
	}
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(below)))
	if below != "" && errors.Is(err, fs.ErrNotExist) {
		return true // gone since the folder above was read
	}
	if err != nil {
		return w.fail(err)
	}
	// The names of what is in a folder follow its own name with a slash: sorted so, the whole list is sorted.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	infos := w.stat(below, entries)
	for i, e := range entries {
		name := join(below, e.Name())
		switch {
		case e.IsDir():
			if !utf8.ValidString(e.Name()) || w.enter == nil && strings.HasPrefix(e.Name(), ".") || w.enter != nil && !w.enter(name) {
				continue
			}
			if !w.folder(name, depth+1) {
				return false
			}
		case infos[i].wanted:
			info, err := infos[i].info, infos[i].err
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone since the folder was read
			}
			if err != nil {
				return w.fail(err)
			}
			if w.files++; w.files > MaxFiles {
				return w.fail(fmt.Errorf("%s holds more than %d files: add its folders one by one", w.root, MaxFiles))
			}
			c := Container{Name: name, Stamp: fixed, Size: 1}
			if !w.unasked {
				c.Stamp, c.Size = stamp(info), info.Size()
			}
			if !w.yield(c, nil) {
				return false
			}
		}
	}
	return true
}

// found is a file of a folder.
type found struct {
	wanted bool
	info   fs.FileInfo
	err    error
}

// statsApart is how many files are asked about by one goroutine: asking is most of the time of a rescan.
const statsApart = 256

// stat asks about the files of a folder that are wanted.
func (w *walk) stat(below string, entries []fs.DirEntry) []found {
	all := make([]found, len(entries))
	if w.unasked {
		for i, e := range entries {
			all[i].wanted = w.picks(below, e)
		}
		return all
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for from := 0; from < len(entries); from += statsApart {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			for i := from; i < min(from+statsApart, len(entries)); i++ {
				if e := entries[i]; w.picks(below, e) {
					all[i].wanted = true
					all[i].info, all[i].err = e.Info()
				}
			}
		})
	}
	wait.Wait()
	return all
}

func (w *walk) picks(below string, e fs.DirEntry) bool {
	return e.Type().IsRegular() && utf8.ValidString(e.Name()) && w.want(join(below, e.Name()))
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

func (w *walk) fail(err error) bool {
	w.yield(Container{}, err)
	return false
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// stamp is by what a file is known to be unchanged: another file at its place, or another size or time, is a change.
func stamp(info fs.FileInfo) string {
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	const hex = 16
	b := make([]byte, 0, 3*hex+2)
	b = append(strconv.AppendInt(b, info.Size(), hex), '-')
	b = append(strconv.AppendInt(b, info.ModTime().UnixNano(), hex), '-')
	return string(strconv.AppendUint(b, inode, hex))
}
