package mail

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// typical is a message as people get them: two forms, the fields of its way, a quoted answer.
var typical = strings.Repeat("Received: from one.example by two.example (Postfix) with ESMTP id 4A7B; Thu, 22 Aug 2002 18:26:25 +0700\n", 4) +
	"From: Ann Lee <ann@example.org>\nTo: Bo <bo@example.org>, =?utf-8?q?J=C3=B6rg?= <j@example.org>\nDate: Thu, 22 Aug 2002 18:26:25 +0700\n" +
	"Message-ID: <1.2@example.org>\nReferences: <0.1@example.org> <0.2@example.org>\nSubject: Re: the plan for next week\n" +
	"Content-Type: multipart/alternative; boundary=\"bound\"\n\n--bound\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n" +
	strings.Repeat("The caf=C3=A9 is booked for Tuesday, and we bring what is needed.\n", 20) +
	"--bound\nContent-Type: text/html; charset=utf-8\n\n" + strings.Repeat("<p>The <b>plan</b> for next week.</p>\n", 40) + "--bound--\n"

type nowhere struct{}

func (nowhere) Keep() error                    { return nil }
func (nowhere) Put(int64, *store.Record) error { return nil }
func (nowhere) Skip(int64, string) error       { return nil }
func (nowhere) Lose(int64) error               { return nil }

func BenchmarkMessage(b *testing.B) {
	source := []byte(typical)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record(source, origin{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	page := []byte("<style>.x{display:none}</style>" + strings.Repeat(`<table><tr><td style="color:#333"><a href="https://x.org/a">a link</a> and <b>words</b></table>`+"\n", 500))
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		textOfHTML(nil, page, 1<<20)
	}
}

func BenchmarkMbox(b *testing.B) {
	file := filepath.Join(b.TempDir(), "a.mbox")
	text := strings.Repeat(fromLineA+typical+"\n", 5000)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	r, err := Reader(Mbox, file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := r.Read(context.Background(), source.Container{Name: "."}, source.Before{}, nowhere{}); err != nil {
			b.Fatal(err)
		}
	}
}
