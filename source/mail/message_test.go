package mail

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/store"
)

func read(t *testing.T, source string) *store.Record {
	t.Helper()
	r, err := record([]byte(strings.ReplaceAll(source, "\n", "\r\n")), origin{folder: "box"})
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return r
}

func TestSubjectsAreDecoded(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{"Plain words", "Plain words"},
		{"folded\n over two lines", "folded over two lines"},
		{"=?utf-8?q?caf=C3=A9_noir?=", "café noir"},
		{"=?UTF-8?B?Y2Fmw6k=?=", "café"},
		{"=?iso-8859-1?Q?Gr=FC=DFe?= from =?utf-8?q?K=C3=B6ln?=", "Grüße from Köln"},
		{"=?utf-8?q?a?= =?utf-8?q?b?=", "ab"},
		{"=?utf-8?q?a?=\n =?iso-8859-1?q?=E9?=", "aé"},
		{"=?utf-8?b?5pel5pys6A==?= =?utf-8?b?qp4=?=", "日本語"}, // cut within a character
		{"=?gb2312?B?xOO6ww==?=", "你好"},
		{"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"},
		{"=?x-unheard-of?q?still_read?=", "still read"},
		{"=?utf-8*en?q?tagged?=", "tagged"},
		{"=?utf-8?x?unknown?=", "=?utf-8?x?unknown?="},
		{"=?utf-8?q?open", "=?utf-8?q?open"},
		{"raw caf\xc3\xa9", "raw café"},
		{"raw caf\xe9", "raw café"},
		{"one\x00two\x1b[31m", "one two [31m"},
	} {
		if got := read(t, "Subject: "+tc.raw+"\n\nx\n").Title; got != tc.want {
			t.Errorf("%q: %q, want %q", tc.raw, got, tc.want)
		}
	}
}

func TestAddressesAreRead(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{"ann@example.org", "|ann@example.org"},
		{"Ann Lee <Ann@Example.org>", "Ann Lee|ann@example.org"},
		{`"Lee, Ann" <ann@example.org>, bo@example.org`, "Lee, Ann|ann@example.org;|bo@example.org"},
		{`"a \"b\" c" <a@example.org>`, `a "b" c|a@example.org`},
		{"ann@example.org (Ann (the first) Lee)", "Ann (the first) Lee|ann@example.org"},
		{"=?utf-8?q?J=C3=B6rg=2C_K?= <j@example.org>", "Jörg, K|j@example.org"},
		{"Team: a@example.org, B <b@example.org>;", "|a@example.org;B|b@example.org"},
		{"undisclosed-recipients:;", ""},
		{"<@relay.example,@two.example:a@example.org>", "|a@example.org"},
		{"nobody in particular", "nobody in particular|"},
		{"Ann <ann@example.org", "Ann|ann@example.org"},
		{"ann@example.org <ann@example.org>", "|ann@example.org"},
		{"", ""},
		{",,,", ""},
	} {
		var got []string
		for _, p := range parties([]byte(tc.raw), 10) {
			got = append(got, p.Name+"|"+string(p.Address))
		}
		if s := strings.Join(got, ";"); s != tc.want {
			t.Errorf("%q: %q, want %q", tc.raw, s, tc.want)
		}
	}
}

func TestDatesAreRead(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{"Thu, 22 Aug 2002 18:26:25 +0700", "2002-08-22T11:26:25Z"},
		{"22 Aug 2002 18:26 -0330", "2002-08-22T21:56:00Z"},
		{"Thu, 22 Aug 02 18:26:25 GMT", "2002-08-22T18:26:25Z"},
		{"Thu, 22 Aug 102 18:26:25 EST", "2002-08-22T23:26:25Z"},
		{"Thu Aug 22 12:46:39 2002", "2002-08-22T12:46:39Z"},
		{"Thu Aug 22 12:46:39 MEST 2002", "2002-08-22T10:46:39Z"},
		{"Thu, 22 Aug 2002 06:26:25 PM", "2002-08-22T18:26:25Z"},
		{"Thu, 22 Aug 2002 12:26:25 AM +0000 (a comment)", "2002-08-22T00:26:25Z"},
		{"2002-08-22T18:26:25+02:00", "2002-08-22T16:26:25Z"},
		{"2002-08-22 18:26:25.123Z", "2002-08-22T18:26:25Z"},
		{"22-Aug-2002 18:26:25 GMT+0100", "2002-08-22T17:26:25Z"},
		{"Thu,22 August 2002 18:26:60 +9900", "2002-08-22T18:26:59Z"},
		{"Thu, 31 Jun 2002 18:26:25 +0000", ""},
		{"Thu, 22 Aug 2002", ""},
		{"soon", ""},
		{"", ""},
	} {
		got := ""
		if at, ok := parseDate(tc.raw); ok {
			got = at.Format(time.RFC3339)
		}
		if got != tc.want {
			t.Errorf("%q: %s, want %s", tc.raw, got, tc.want)
		}
	}
}

func TestTheTimeOfAMessageHasFallbacks(t *testing.T) {
	const received = "Received: from a by b; Mon, 2 Jan 2006 15:04:05 +0000\nReceived: from c by a; Mon, 2 Jan 2006 14:00:00 +0000\n"
	for _, tc := range []struct{ source, want string }{
		{"From a@b Thu Aug 22 12:46:39 2002\nDate: Fri, 23 Aug 2002 10:00:00 +0000\n" + received, "2002-08-23T10:00:00Z"},
		{"From a@b Thu Aug 22 12:46:39 2002\nDate: never\n" + received, "2002-08-22T12:46:39Z"},
		{received, "2006-01-02T15:04:05Z"},
		{"Subject: no time\n", "0001-01-01T00:00:00Z"},
	} {
		if got := read(t, tc.source+"\nx\n").Time.Format(time.RFC3339); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.source, got, tc.want)
		}
	}
}

const mixed = "Subject: s\nContent-Type: multipart/mixed; boundary=X\n\npreamble\n"

func TestBodiesAreRead(t *testing.T) {
	for _, tc := range []struct{ name, source, want string }{
		{"plain", "Subject: s\n\nhello\nworld\n", "hello\nworld"},
		{"undeclared UTF-8", "Subject: s\n\ncaf\xc3\xa9\n", "café"},
		{"undeclared windows-1252", "Subject: s\n\n\x93caf\xe9\x94\n", "“café”"},
		{"latin 2", "Content-Type: text/plain; charset=iso-8859-2\n\n\xb1\n", "ą"},
		{"a charset nobody knows", "Content-Type: text/plain; charset=x-none\n\nplain caf\xe9\n", "plain café"},
		{"UTF-8 with damage", "Content-Type: text/plain; charset=utf-8\n\ncaf\xc3\xa9 \xff!\n", "café \ufffd!"},
		{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\na=\nb =3D =C3=A9 =ZZ=\n", "ab = é =ZZ"},
		{"base64 with damage", "Content-Transfer-Encoding: base64\n\naGVs!!bG8=\nIHdvcmxk\n*", "hello world"},
		{"flowed", "Content-Type: text/plain; format=flowed\n\none \ntwo\n> q \n> r\n stuffed\n-- \nme\n", "one two\n> q r\nstuffed\n-- \nme"},
		{"delsp", "Content-Type: text/plain; format=flowed; delsp=yes\n\nab \ncd\n", "abcd"},
		{"HTML", "Content-Type: text/html\n\n<p>one<p>two", "one\n\ntwo"},
		{"HTML names its charset", "Content-Type: text/html\n\n<meta charset=iso-8859-2>\xb1", "ą"},
		{"two parts", mixed + "--X\n\none\n--X\n\ntwo\n--X--\nepilogue", "one\n\ntwo"},
		{"no last boundary", mixed + "--X\n\none\n--X\n\ntwo\n", "one\n\ntwo"},
		{"a boundary that begins like another", mixed + "--X\n\none\n--XY\nstill\n--X--\n", "one\n--XY\nstill"},
		{"a boundary that is not there", mixed + "--Y\n\none\n--Y--\n", "one"},
		{"no parts at all", mixed + "only text\n", "preamble\nonly text"},
		{"plain before HTML", "Content-Type: multipart/alternative; boundary=X\n\n--X\n\nplain\n--X\nContent-Type: text/html\n\n<b>rich</b>\n--X--\n", "plain"},
		{"plain says nothing", "Content-Type: multipart/alternative; boundary=X\n\n--X\n\n \n--X\nContent-Type: text/html\n\n<b>rich</b>\n--X--\n", "rich"},
		{"a line is missing", "Subject: s\nContent-Type: text/plain\nBody at once\nand more\n", "Body at once\nand more"},
		{"a message within", mixed + "--X\nContent-Type: message/rfc822\n\nFrom: a@b.c\nSubject: inner\n\ndeep\n--X--\n", "From: a@b.c\nSubject: inner\n\ndeep"},
		{"tags that hide ASCII", "Subject: s\n\na\U000e0041\u200bb\n", "ab"},
		{"empty", "Subject: s\n\n", ""},
	} {
		if got := read(t, tc.source).Body; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAttachmentsAreListedAndNamed(t *testing.T) {
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 ...")) + "\n"
	for _, tc := range []struct{ part, body, details string }{
		{"Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n" + pdf, "Attachment: a.pdf", `{"name":"a.pdf","type":"application/pdf","size":12}`},
		{"Content-Type: image/png\n\nxx", "", `{"name":"","type":"image/png","size":2}`},
		{"Content-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf\nContent-Type: application/pdf\n\nx", "Attachment: résumé.pdf", `{"name":"résumé.pdf","type":"application/pdf","size":1}`},
		{"Content-Disposition: attachment; filename*0=lo; filename*1=ng.pdf\nContent-Type: application/pdf\n\nx", "Attachment: long.pdf", `{"name":"long.pdf","type":"application/pdf","size":1}`},
		{"Content-Disposition: attachment; filename=\"=?utf-8?q?=C3=A9.pdf?=\"\nContent-Type: application/pdf\n\nx", "Attachment: é.pdf", `{"name":"é.pdf","type":"application/pdf","size":1}`},
		{"Content-Disposition: attachment; filename=\"C:\\\\docs\\\\a.pdf\"\nContent-Type: application/pdf\n\nx", "Attachment: a.pdf", `{"name":"a.pdf","type":"application/pdf","size":1}`},
		{"Content-Type: text/csv; name=t.csv\n\n1,2", "Attachment: t.csv\n1,2", `{"name":"t.csv","type":"text/csv","size":3}`},
		{"Content-Type: text/html; name=t.html\n\n<i>it</i>", "Attachment: t.html\nit", `{"name":"t.html","type":"text/html","size":9}`},
	} {
		r := read(t, mixed+"--X\n"+tc.part+"\n--X--\n")
		if details := `{"attachments":[` + tc.details + `]}`; r.Body != tc.body || string(r.Details) != details {
			t.Errorf("%q: %q %s", tc.part, r.Body, r.Details)
		}
	}
}

func TestThreadsAndDetails(t *testing.T) {
	const id = "Message-ID: <own@x>\n"
	first := threadOf("first@x")
	for _, tc := range []struct{ header, thread, details string }{
		{id + "References: <first@x> <second@x>\nIn-Reply-To: <second@x>\n", first, `{"messageId":"own@x","inReplyTo":"second@x","references":["first@x","second@x"]}`},
		{id + "In-Reply-To: your mail <first@x>\n", first, `{"messageId":"own@x","inReplyTo":"first@x"}`},
		{"Message-ID: first@x\n", first, `{"messageId":"first@x"}`},
		{id + "List-Id: Talk <talk.x>\nCc: a@b.c, Bo\n", threadOf("own@x"), `{"messageId":"own@x","cc":["a@b.c","Bo"],"listId":"talk.x"}`},
	} {
		r := read(t, tc.header+"\nx\n")
		if r.Thread != tc.thread || string(r.Details) != tc.details || !r.Details.IsValid() {
			t.Errorf("%q: %s %s", tc.header, r.Thread, r.Details)
		}
	}
	many := strings.Repeat("<a@b> ", 100)
	if got := ids([]byte("<first@x> " + many + "<last@x>")); len(got) != maxReferences || got[0] != "first@x" || got[maxReferences-1] != "last@x" {
		t.Errorf("kept %d: %q", len(got), got)
	}
}

func TestRefIsTheSameForTheSameMessageOnly(t *testing.T) {
	const plain = "From: Ann <ann@x.org>\nDate: Thu, 22 Aug 2002 18:26:25 +0700\nMessage-ID: <m@x>\nSubject: caf\xc3\xa9\n\nhello  world\n"
	ref := read(t, plain).Ref
	for _, tc := range []struct {
		name, source string
		same         bool
	}{
		{"other way", "Received: from z\n" + plain, true},
		{"From_ line", "From ann Thu Aug 22 12:46:39 2002\n" + plain, true},
		{"zone", strings.Replace(plain, "18:26:25 +0700", "11:26:25 +0000", 1), true},
		{"white space", strings.Replace(plain, "hello  world", "hello\nworld \n", 1), true},
		{"encoded", strings.Replace(plain, "caf\xc3\xa9", "=?utf-8?q?caf=C3=A9?=", 1), true},
		{"text", strings.Replace(plain, "world", "there", 1), false},
		{"sender", strings.Replace(plain, "ann@", "eve@", 1), false},
		{"subject", strings.Replace(plain, "caf", "kaf", 1), false},
		{"date", strings.Replace(plain, "2002", "2003", 1), false},
	} {
		if got := read(t, tc.source).Ref; (got == ref) != tc.same {
			t.Errorf("%s: %s and %s", tc.name, got, ref)
		}
	}
	if !strings.HasPrefix(ref, "m@x~") || len(ref) != len("m@x~")+32 {
		t.Error(ref)
	}
	if got := read(t, "Subject: s\n\nx\n").Ref; !strings.HasPrefix(got, "sha256:") {
		t.Error(got)
	}
	if got := read(t, "Message-ID: <"+strings.Repeat("é", 5000)+"@x>\n\nx\n").Ref; len(got) > store.MaxRefBytes || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	for _, source := range []string{"", "\n\n", "just words\n", "From a@b Thu Aug 22 12:46:39 2002\n\nno header\n", ": x\n", "\x00\x01\x02"} {
		if r, err := record([]byte(source), origin{}); err == nil {
			t.Errorf("%q was read: %+v", source, r)
		}
	}
}

func TestOnlyGmailMailboxesHaveGmailFields(t *testing.T) {
	const source = "X-GM-THRID: 42\nX-Gmail-Labels: Inbox,Opened,=?utf-8?q?Caf=C3=A9?=\n\nx\n"
	r, err := record([]byte(source), origin{folder: "box", gmail: true})
	if err != nil || r.Folder != "Inbox, Café" || r.Thread != threadOf("gmail:42") {
		t.Error(r, err)
	}
	if r := read(t, source); r.Folder != "box" || r.Thread == threadOf("gmail:42") {
		t.Error(r)
	}
}

// Nested parts that are never closed cost some readers twice the time at each depth.
func TestNestedPartsCostNoMoreThanTheirSizeAtEachDepth(t *testing.T) {
	for _, kind := range []string{"mixed", "alternative"} {
		var b strings.Builder
		b.WriteString("Subject: s\n")
		for i := range 3000 {
			b.WriteString("Content-Type: multipart/" + kind + "; boundary=b" + strconv.Itoa(i) + "\n\n--b" + strconv.Itoa(i) + "\n")
		}
		source := []byte(b.String())
		h, body := readHeader(source)
		m := new(message)
		m.entity(&h, body, false, 0, true)
		if m.parts > maxDepth+2 || m.scanned > 2*(maxDepth+2)*len(source) || !m.cut {
			t.Errorf("%s: %d parts, %d bytes of %d", kind, m.parts, m.scanned, len(source))
		}
	}
	source := []byte(mixed + strings.Repeat("--X\n\na\n", 10*maxParts))
	h, body := readHeader(source)
	m := new(message)
	if m.entity(&h, body, false, 0, true); m.parts > maxParts+2 || !m.cut {
		t.Errorf("%d parts", m.parts)
	}
}

func TestABodyIsBounded(t *testing.T) {
	r := read(t, "Subject: s\n\n"+strings.Repeat("é", store.MaxBodyBytes/2+10))
	if len(r.Body) > store.MaxBodyBytes || !utf8.ValidString(r.Body) || string(r.Details) != `{"cut":true}` {
		t.Errorf("%d bytes, %s", len(r.Body), r.Details)
	}
}

// check says what the store would refuse.
func check(t *testing.T, r *store.Record) {
	t.Helper()
	for _, s := range []string{r.Ref, r.Title, r.Body, r.Folder, r.Thread} {
		if !utf8.ValidString(s) {
			t.Fatalf("not UTF-8: %q", s)
		}
	}
	for _, p := range append(append([]store.Party{}, r.From...), r.To...) {
		if !utf8.ValidString(p.Name) || !utf8.ValidString(string(p.Address)) {
			t.Fatalf("not UTF-8: %+v", p)
		}
	}
	if len(r.Ref) > store.MaxRefBytes || r.Ref == "" || len(r.Title) > store.MaxTitleBytes || len(r.Body) > store.MaxBodyBytes ||
		len(r.From)+len(r.To) > store.MaxParties || len(r.Details) > store.MaxDetailsBytes || !r.Details.IsValid() {
		t.Fatalf("out of bounds: %d %d %d %s", len(r.Ref), len(r.Title), len(r.Body), r.Details)
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		"Subject: =?utf-8?b?5pel?= =?x?q?=?=\n\nx", mixed + "--X\nContent-Type: message/rfc822\n\n\nFrom x\n--X--",
		"From a Thu Aug 22 12:46:39 2002\nTo: \"a\\\" <b@c>, (d(e)) f@g\nDate: 1 Jan 1 1:1 +\n\n",
		"Content-Type: text/html; charset=utf-16; name*=a'b'%; x*0=1; x*2=3\nContent-Transfer-Encoding: base64\n\nPGI+\n=a",
		"Content-Type: multipart/alternative; boundary=\"\"\n\n--\n\n--\n--x\n",
		"Content-Type: text/plain; format=flowed; delsp=yes\n\n> \n \n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		before := string(source)
		r, err := record(source, origin{gmail: true})
		if string(source) != before {
			t.Fatal("the source was changed")
		}
		if err == nil {
			check(t, r)
		}
	})
}
