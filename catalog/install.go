package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/atomicfile"
)

// ErrBundled means that a definition ships with the program, so that nobody installs over it or
// removes it.
var ErrBundled = errors.New("is bundled with the program; it can be neither replaced nor removed")

// Install puts a definition into the store under a name, or in the place of the one of that name where
// replace is set. Its bytes and where they came from are kept; the origin is never looked at again.
//
// The checks come in the order of governed-runs 2.6: the name's form (*NameError), bundled
// (ErrBundled) and present (ErrExists), all before the origin is read; then the origin; then the
// definition as in 2.3 (protocol.Problems among others), also that a governor takes it. After an error
// the store is as it was. ctx ends a fetch and the wait for another's change.
func (s *Store) Install(ctx context.Context, bundled Catalog, name string, from Origin, replace bool) error {
	if _, err := ParseName(name); err != nil {
		return nameError(err, from.glance())
	}
	if _, is := bundled.Get(name); is {
		return fmt.Errorf("%s %w", name, ErrBundled)
	}
	installed, err := s.read(bundled)
	if err != nil {
		return err
	}
	if err := free(installed, name, replace); err != nil {
		return err
	}
	yaml, source, err := from.read(ctx)
	if err != nil {
		return err
	}
	e, err := Check(name, yaml, source)
	if err != nil {
		return err
	}
	if err := governor.CheckDefinition(name, e.Protocol()); err != nil {
		return err
	}
	if err := s.make(); err != nil {
		return err
	}
	return s.change(ctx, bundled, func(installed []*Entry) ([]*Entry, error) {
		if err := free(installed, name, replace); err != nil { // another may have been first
			return nil, err
		}
		return append(without(installed, name), e), nil
	})
}

// Remove takes a definition out of the store. Runs that began under it are not touched.
// ctx ends the wait for another's change.
func (s *Store) Remove(ctx context.Context, bundled Catalog, name string) error {
	if _, is := bundled.Get(name); is {
		return fmt.Errorf("%s %w", name, ErrBundled)
	}
	missing := fmt.Errorf("%s is not installed", name)
	there, err := s.exists()
	if err != nil {
		return err
	}
	if !there {
		return missing
	}
	return s.change(ctx, bundled, func(installed []*Entry) ([]*Entry, error) {
		left := without(installed, name)
		if len(left) == len(installed) {
			return nil, missing
		}
		return left, nil
	})
}

// free refuses a name that is taken, unless it is to be replaced.
func free(installed []*Entry, name string, replace bool) error {
	if !replace && slices.ContainsFunc(installed, named(name)) {
		return fmt.Errorf("%s %w", name, ErrExists)
	}
	return nil
}

func without(installed []*Entry, name string) []*Entry {
	return slices.DeleteFunc(slices.Clone(installed), named(name))
}

func named(name string) func(*Entry) bool {
	return func(e *Entry) bool { return e.Name == name }
}

// make makes an empty store where there is none. It comes into being with its manifest, so that an
// install that is killed leaves no store without one.
func (s *Store) make() error {
	there, err := s.exists()
	if err != nil || there {
		return err
	}
	if err := atomicfile.MakeFolder(filepath.Dir(s.root)); err != nil {
		return fmt.Errorf("make the protocol store: %w", err)
	}
	empty, err := encodeManifest(nil, s.limit)
	if err != nil {
		return err
	}
	if err := s.writer.WriteFolder(s.root, manifestName, empty); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the protocol store: %w", err)
	}
	return nil
}

// change replaces what is installed by what edit makes of it, one change at a time.
func (s *Store) change(ctx context.Context, bundled Catalog, edit func([]*Entry) ([]*Entry, error)) error {
	lock, err := atomicfile.LockFolderContext(ctx, s.root)
	if err != nil {
		return fmt.Errorf("lock the protocol store: %w", err)
	}
	defer lock.Unlock()
	if !lock.Holds(s.root) {
		return fmt.Errorf("the protocol store %s was moved away meanwhile; try again", s.root)
	}
	installed, err := s.read(bundled)
	if err != nil {
		return err
	}
	next, err := edit(installed)
	if err != nil {
		return err
	}
	data, err := encodeManifest(next, s.limit)
	if err != nil {
		return err
	}
	return s.writer.Write(s.manifest, data)
}
