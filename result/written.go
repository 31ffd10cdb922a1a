package result

import (
	"errors"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// The members of a result that was written.
const (
	memberLink   = "link"
	memberLabel  = "label"
	memberMinted = "minted"
	memberSealed = "sealed"
	memberValue  = "value"
	memberToken  = "token"
)

// Document gives what was written as a tree, labels as their canonical text, for [ReadWritten].
func (w *Written) Document() document.Value {
	minted := make([]document.Value, len(w.Minted))
	for i, m := range w.Minted {
		minted[i] = document.MapOf(
			document.M(memberToken, document.TextOf(m.Token)), document.M(memberLink, document.TextOf(m.Link)), document.M(memberLabel, document.TextOf(m.Label.Canonical())))
	}
	return document.MapOf(
		document.M(memberLink, document.TextOf(w.Link)), document.M(memberLabel, document.TextOf(w.Label.Canonical())), document.M(memberMinted, document.ListOf(minted...)),
		document.M(memberSealed, document.TextsOf(w.Sealed)), document.M(memberValue, w.Value))
}

var errWritten = errors.New("what is said to have been written has not the form of it")

// ReadWritten reads what [Written.Document] gives.
func ReadWritten(v document.Value) (*Written, error) {
	f, err := fieldsOf(v, memberLink, memberLabel, memberMinted, memberSealed, memberValue)
	if err != nil {
		return nil, err
	}
	w := &Written{Link: f[memberLink].Text, Value: f[memberValue]}
	if w.Label, err = label.ReadLabel([]byte(f[memberLabel].Text)); err != nil {
		return nil, err
	}
	minted, sealed := f[memberMinted], f[memberSealed]
	if !inResults(w.Link) || minted.Kind != document.List || sealed.Kind != document.List || len(minted.Items) > MaxMinted {
		return nil, errWritten
	}
	for _, item := range minted.Items {
		f, err := fieldsOf(item, memberToken, memberLink, memberLabel)
		if err != nil {
			return nil, err
		}
		m := Minted{Token: f[memberToken].Text, Link: f[memberLink].Text}
		if m.Label, err = label.ReadLabel([]byte(f[memberLabel].Text)); err != nil {
			return nil, err
		}
		if !handle.IsToken(m.Token) || !inResults(m.Link) {
			return nil, errWritten
		}
		w.Minted = append(w.Minted, m)
	}
	for _, item := range sealed.Items {
		if item.Kind != document.Text {
			return nil, errWritten
		}
		w.Sealed = append(w.Sealed, item.Text)
	}
	return w, nil
}

// fieldsOf gives the members of a map that has exactly these.
func fieldsOf(v document.Value, names ...string) (map[string]document.Value, error) {
	fields := map[string]document.Value{}
	for _, name := range names {
		m, ok := v.Get(name)
		if !ok {
			return nil, errWritten
		}
		fields[name] = m
	}
	if len(v.Members) != len(names) {
		return nil, errWritten
	}
	return fields, nil
}
