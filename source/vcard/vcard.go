// Package vcard reads contacts: vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350), as address books export them, one card or many in a file.
//
// A card becomes a record of kind contact, one of a group (KIND:group, or X-ADDRESSBOOKSERVER-KIND of Apple) one of kind group.
//
// The reference of a card is its UID, without "urn:uuid:", or, where it has none or an endless one, "sha256:" and a hash: of its name and
// its addresses, numbers and handles; a card that has none of these is its whole text. Its person is [PersonID] of that reference,
// so that a card exported twice is one person.
//
// The keys of a contact are its identifiers (9.4): email addresses, telephone numbers, "handle:" of messengers and social
// networks, and "person:". Those of a group are "group:" with its name in lower case and with its reference. Times are those of REV.
//
// A person's note is in the body, so that its owner finds it, and in the member note of the details: what shows a summary of a person
// leaves it out. Photos, sounds and keys are not kept.
//
// The cards are split here and their lines read here, not by a library: emersion/go-vcard loses the values of 2.1 (it takes
// "TEL;HOME:+15550100" for a parameter HOME) and what follows a soft line break, and does not tell an escaped semicolon from one that
// divides a name.
package vcard

import (
	"bytes"
	"context"
	"io"
	"iter"
	"path"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// Format is the name of the format in a source.
const Format = "vcard"

// Reader reads the cards of one file, or of all files that end in .vcf or .vcard below a folder.
func Reader(location string) source.Reader { return reader{location} }

// Detect tells a place that holds cards: a file that begins with one, or a folder with a file that does. It looks at the first few
// thousand files of a folder.
func Detect(location string) (format string, ok bool) {
	if !source.Any(location, nil, func(c source.Container) bool {
		return (c.Name == "." || wanted(c.Name)) && begins(source.Path(location, c))
	}) {
		return "", false
	}
	return Format, true
}

// begins tells a file whose first line that is not empty begins a card.
func begins(file string) bool {
	head, _ := boundedfile.Head(file, 1024) // of what cannot be read, nothing
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(byteOrderMark)), " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return isLine(line, "BEGIN")
}

func wanted(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".vcf", ".vcard":
		return true
	}
	return false
}

type reader struct{ location string }

func (r reader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.Files(ctx, r.location, wanted, nil)
}

func (r reader) Read(ctx context.Context, c source.Container, _ source.Before, sink source.Sink) (string, error) {
	f, err := boundedfile.Open(source.Path(r.location, c))
	if err != nil {
		return "", err
	}
	defer f.Close()
	return "", readCards(ctx, f, sink)
}

// readCards gives each card of a stream to a sink.
func readCards(ctx context.Context, in io.Reader, sink source.Sink) error {
	s := newSplitter(in)
	for cards := 0; ; cards++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.next()
		if err == io.EOF {
			if cards == 0 && s.text {
				return sink.Skip(0, "no vCard begins in this file: export the contacts as vCard, in UTF-8")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if c.fault == "" {
			var r *store.Record
			if r, c.fault = recordOf(c.lines); c.fault == "" {
				if err := sink.Put(c.start, r); err != nil {
					return err
				}
				continue
			}
		}
		if err := sink.Skip(c.start, c.fault); err != nil {
			return err
		}
	}
}
