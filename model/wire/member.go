package wire

import (
	"strconv"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
)

// WrongKind is the failure of an answer that has one kind of value in the place of another.
func WrongKind(what string, v document.Value, want document.Kind) *model.Failure {
	return model.Fail(model.Malformed, nil, "%s: %s instead of %s", what, v.Kind, want)
}

// Present finds a member that is there and not null, which mean the same in all three protocols.
func Present(v document.Value, name string) (document.Value, bool) {
	member, ok := v.Get(name)
	return member, ok && member.Kind != document.Null
}

// Text reads a text member, empty where it is absent.
func Text(v document.Value, name string) (string, *model.Failure) {
	member, failure := kind(v, name, document.Text)
	return member.Text, failure
}

// List reads a list member, empty where it is absent.
func List(v document.Value, name string) ([]document.Value, *model.Failure) {
	member, failure := kind(v, name, document.List)
	return member.Items, failure
}

// Map reads a member that is a map, empty where it is absent.
func Map(v document.Value, name string) (document.Value, *model.Failure) {
	return kind(v, name, document.Map)
}

func kind(v document.Value, name string, want document.Kind) (document.Value, *model.Failure) {
	member, ok := Present(v, name)
	switch {
	case !ok:
		return document.Value{}, nil
	case member.Kind != want:
		return document.Value{}, WrongKind(name, member, want)
	}
	return member, nil
}

// Index reads the place of a piece in its answer, a whole number below 2³¹. Where it is absent, ok is
// false.
func Index(v document.Value, name, of string) (index uint64, ok bool, failure *model.Failure) {
	member, ok := Present(v, name)
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(member.Text, 10, 31)
	if member.Kind != document.Number || err != nil {
		return 0, false, model.Fail(model.Malformed, nil, "the %s of %s is not a small whole number", name, of)
	}
	return n, true, nil
}

// Count reads a number of tokens. What is no whole number from 0 on is not known.
func Count(v document.Value, name string) *uint64 {
	member, _ := v.Get(name)
	if member.Kind != document.Number {
		return nil
	}
	n, err := strconv.ParseUint(member.Text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
