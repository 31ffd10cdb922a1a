package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

const (
	// MaxFileBytes bounds a bindings file.
	MaxFileBytes = boundedfile.MiB
	// DefaultTimeout and MaxTimeout are how long a program may take (6.4).
	DefaultTimeout = 60 * time.Second
	MaxTimeout     = 3600 * time.Second
	// maxArgv bounds the words of a command line, and maxWritable the folders that a program may write.
	maxArgv     = 1024
	maxWritable = 32
)

// File is a bindings file: which program performs which action of one protocol (6.4, D14).
type File struct {
	// Protocol is the registration.
	Protocol string
	// Timeout is how long each program may take.
	Timeout time.Duration
	// Bound are the actions with their programs, in the order of the file.
	Bound []Bound
	// SHA256 is the digest of the file's bytes, in hexadecimal.
	SHA256 string
}

// Bound is an action with the program that performs it.
type Bound struct {
	Action string
	// Argv is the program and its arguments, as in the file. The first names the program.
	Argv []string
	// Arguments is the JSON Schema of the action's arguments; nil where any object will do.
	Arguments *Schema
	// Confine says what the program may do; nil: whatever the person may.
	Confine *Confine
}

// Confine is what a confined program may do besides reading the system's own files and its folder.
type Confine struct {
	Write   []string // folders below the current one that it may write
	Network bool
}

// Read reads a bindings file. Errors say what is wrong and where, without the path.
func Read(path string) (*File, error) {
	data, err := boundedfile.Read(path, MaxFileBytes)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, failed.Err
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), path+" "))
	}
	return Parse(data)
}

// Parse reads the text of a bindings file: strict JSON, with no member that is unknown, null or written twice.
func Parse(data []byte) (*File, error) {
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	f := &File{Timeout: DefaultTimeout, SHA256: hex.EncodeToString(sum[:])}
	if err := object(v, "the file", "protocol", "bindings", "timeout_seconds?"); err != nil {
		return nil, err
	}
	for _, m := range v.Members {
		switch m.Name {
		case "protocol":
			f.Protocol, err = text(m.Value, "protocol")
		case "timeout_seconds":
			f.Timeout, err = timeout(m.Value)
		case "bindings":
			f.Bound, err = bindings(m.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func timeout(v document.Value) (time.Duration, error) {
	// Another way to write a whole number, such as 1e2, is not worth a second reading.
	n, err := strconv.ParseUint(v.Text, 10, 16)
	if v.Kind != document.Number || err != nil || n == 0 || time.Duration(n)*time.Second > MaxTimeout {
		return 0, document.Errorf(v.Place, "timeout_seconds must be a whole number from 1 to %d", int(MaxTimeout.Seconds()))
	}
	return time.Duration(n) * time.Second, nil
}

func bindings(v document.Value) ([]Bound, error) {
	items, err := list(v, "bindings")
	if err != nil {
		return nil, err
	}
	all := make([]Bound, 0, len(items))
	given := make(map[string]bool, len(items))
	for _, item := range items {
		b, err := bound(item)
		if err != nil {
			return nil, err
		}
		if given[b.Action] {
			return nil, document.Errorf(item.Place, "the action %s is bound twice", b.Action)
		}
		given[b.Action] = true
		all = append(all, b)
	}
	return all, nil
}

func bound(v document.Value) (b Bound, err error) {
	if err := object(v, "a binding", "action", "argv", "arguments?", "confine?"); err != nil {
		return b, err
	}
	action, _ := v.Get("action")
	if b.Action, err = text(action, "action"); err != nil {
		return b, err
	}
	for _, m := range v.Members {
		switch m.Name {
		case "argv":
			b.Argv, err = words(m.Value, "argv of "+b.Action, maxArgv)
			if err == nil && (len(b.Argv) == 0 || b.Argv[0] == "") {
				err = document.Errorf(m.Value.Place, "the argv of %s names no program", b.Action)
			}
		case "arguments":
			b.Arguments, err = newSchema(m.Value, b.Action)
		case "confine":
			b.Confine, err = confine(m.Value, b.Action)
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func confine(v document.Value, action string) (*Confine, error) {
	if err := object(v, "confine of "+action, "write?", "network?"); err != nil {
		return nil, err
	}
	c := new(Confine)
	for _, m := range v.Members {
		switch {
		case m.Name == "network" && m.Value.Kind != document.Bool:
			return nil, document.Errorf(m.Value.Place, "network of %s must be true or false, not %s", action, m.Value.Kind)
		case m.Name == "network":
			c.Network = m.Value.Text == "true"
		default:
			folders, err := words(m.Value, "write of "+action, maxWritable)
			if err != nil {
				return nil, err
			}
			for i, folder := range folders {
				if !below(folder) {
					return nil, document.Errorf(m.Value.Items[i].Place, "write of %s names %q; it must be a relative path of a folder below the current one, without . and ..", action, folder)
				}
			}
			c.Write = folders
		}
	}
	return c, nil
}

// below tells whether a path leads to a folder below the current one, whatever stands there.
func below(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains([]string{"", ".", ".."}, part) {
			return false
		}
	}
	return true
}
