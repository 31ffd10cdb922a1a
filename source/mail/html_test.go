package mail

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHiddenTextIsNoText(t *testing.T) {
	for _, page := range []string{
		`<div style="display:none">EVIL</div>`,
		`<div style="DISPLAY : None !important">EVIL</div>`,
		`<div style="display:/**/none">EVIL</div>`,
		`<div style="display:none !important;display:block">EVIL</div>`,
		`<div style="visibility:hidden">EVIL</div>`,
		`<div hidden>EVIL</div>`,
		`<div style="font-size:0">EVIL</div>`,
		`<div style="font-size:0px">EVIL</div>`,
		`<div style="font-size:1px">EVIL</div>`,
		`<div style="font:0/0 a">EVIL</div>`,
		`<div style="opacity:0">EVIL</div>`,
		`<div style="opacity:.01"><b>EVIL</b></div>`,
		`<div style="mso-hide:all">EVIL</div>`,
		`<div style="max-height:0;overflow:hidden">EVIL</div>`,
		`<div style="width:0;height:0;overflow:hidden">EVIL</div>`,
		`<div style="text-indent:-9999px">EVIL</div>`,
		`<div style="position:absolute;left:-9999px">EVIL</div>`,
		`<div style="clip:rect(0,0,0,0)">EVIL</div>`,
		`<span style="color:#fff">EVIL</span>`,
		`<span style="color:white">EVIL</span>`,
		`<span style="color:rgb(255, 255, 254)">EVIL</span>`,
		`<span style="color:transparent">EVIL</span>`,
		`<span style="color:rgba(0,0,0,0)">EVIL</span>`,
		`<font color=ffffff>EVIL</font>`,
		`<table><td bgcolor="#336699"><font color="#336699">EVIL</font>`,
		`<div style="background:#222;color:#222222">EVIL</div>`,
		`<body bgcolor=black>EVIL`,
		`<style>.x{display:none}</style><p class="a x">EVIL</p>`,
		`<p class="x">EVIL</p><style>.x { display : none }</style>`,
		`<style>#x{visibility:hidden}</style><p id=x>EVIL</p>`,
		`<style>/*c*/p.x, b {display:none}</style><p class=x>EVIL</p><b>EVIL</b>`,
		`<style>@media screen{.x{display:none}}</style><p class=x>EVIL</p>`,
		`<style><!-- .x{display:none} --></style><p class=x>EVIL</p>`,
		`<style>EVIL</style>`, `<script>EVIL</script>`, `<template>EVIL</template>`, `<!-- EVIL -->`, `<!--[if mso]>EVIL<![endif]-->`,
		`<head><title>EVIL</title>EVIL2</head>`, `<title>EVIL</title>`, `<noscript>EVIL</noscript>`, `<iframe>EVIL</iframe>`,
		`<img alt=EVIL>`, `<a href="EVIL" title="EVIL"></a>`, `<input value=EVIL>`,
		`<div style="display:none"><div>EVIL</div>EVIL</div>`,
		`<div style="display:none"><p>EVIL</p></span>EVIL</div>`,
		`<p><div style="display:none">x</p>EVIL</div>`,
		`<b><div style="display:none">x</b>EVIL</div>`,
		`<div><font style="display:none">x</div>EVIL`,
		`<div style="display:none"><table></div>EVIL</table></div>`,
		`<div style="display:none"><span style="display:block">EVIL</span></div>`,
		`<table style="display:none"><tr><td>EVIL<tr><td>EVIL</table>`,
		`<a style="display:none" href="http://x.org">EVIL</a>`,
		`<div style="display:none"></body>EVIL`,
		strings.Repeat("<div>", 600) + `<p style="display:none">EVIL`,
		strings.Repeat("<b>", 500) + `<i style="display:none">` + strings.Repeat("<i>", 50) + strings.Repeat("</i>", 50) + `EVIL`,
	} {
		if text, _ := textOfHTML(nil, []byte(page), 1<<20); strings.Contains(string(text), "EVIL") {
			t.Errorf("%s: %q", page[max(0, len(page)-200):], text)
		}
	}
}

func TestShownTextIsText(t *testing.T) {
	for _, tc := range []struct{ page, want string }{
		{"one\n  two", "one two"},
		{"<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"},
		{"a<b>b</b> <i>c</i>", "ab c"},
		{"<ul><li>one<li>two</ul>end", "- one\n- two\n\nend"},
		{"<ol><li>one</li><li>two</li></ol>", "1. one\n2. two"},
		{"<table><tr><td>a<td>b<tr><td>c</table>", "a\tb\nc"},
		{"<pre>a\n  b</pre>", "a\n  b"},
		{"&lt;b&gt; &amp;&nbsp;&eacute;", "<b> &\u00a0é"},
		{`<a href="https://x.org/a">here</a>`, "here <https://x.org/a>"},
		{`<a href="https://x.org/">x.org</a>`, "x.org"},
		{`<a href="mailto:a@x.org?subject=s">a@x.org</a>`, "a@x.org"},
		{`<a href="mailto:a@x.org">write</a>`, "write <mailto:a@x.org>"},
		{`<a href="javascript:alert(1)">here</a>`, "here"},
		{`<a href=" data:text/html,x">here</a>`, "here"},
		{`<a href="HTTPS://x.org/<b>">here</a>`, "here"},
		{`<a href="http://x.org/a">open`, "open <http://x.org/a>"},
		{`<head><style>.x{}</style><body>seen`, "seen"},
		{`<head><title>t</title><p>seen`, "seen"},
		{`<table><td style="font-size:0"><span style="font-size:14px">seen</span></td>`, "seen"},
		{`<p style="visibility:hidden">x<b style="visibility:visible">seen</b></p>`, "seen"},
		{`<style>@media (max-width:600px){.x{display:none}}</style><p class=x>seen`, "seen"},
		{`<style>.x{display:none}</style><p class=x style="display:block">seen`, "seen"},
		{`<style>div.x{display:none}</style><p class=x>seen`, "seen"},
		{`<!-- <style>.x{display:none}</style> --><p class=x>seen`, "seen"},
		{`<style>.a .b{background:#000}</style><p style="color:#fff">seen`, "seen"},
		{`<table><td background="i.png"><font color=white>seen</font>`, "seen"},
		{`<table><td style="background:#000"><font color=white>seen</font>`, "seen"},
		{`<div style="height:0">seen</div>`, "seen"},
		{`<div style="display:none">x</div>seen`, "seen"},
		{`<table><td style="display:none">x<td>seen`, "seen"},
		{`<div><span style="display:none">x</div>seen`, "seen"},
		{strings.Repeat("<font>", 600) + "seen", "seen"},
		{"<plaintext>a</plaintext>", "a</plaintext>"},
		{"", ""},
	} {
		text, cut := textOfHTML(nil, []byte(tc.page), 1<<20)
		if string(text) != tc.want || cut {
			t.Errorf("%s: %q, want %q", tc.page, text, tc.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("<style>.x{display:none</style><p class=x><b><td></b><table><a href=http://x>y</p></a></td>", 100)
	f.Add("<ol><li><li><table><tr><td></li></ol><!-- x", 3)
	f.Fuzz(func(t *testing.T, page string, limit int) {
		limit = min(max(limit, 0), 1<<16)
		text, _ := textOfHTML([]byte("before"), []byte(page), limit)
		if !strings.HasPrefix(string(text), "before") || len(text) > limit+len("before") {
			t.Fatalf("%d bytes of %d", len(text), limit)
		}
		if utf8.ValidString(page) && !utf8.Valid(text) {
			t.Fatalf("not UTF-8: %q", text)
		}
		// Whatever stands in an element that is not shown stays there, if it has no tags of its own.
		if !strings.Contains(page, "<") {
			if text, _ := textOfHTML(nil, []byte(`<div hidden>`+page+`</div>`), 1<<16); len(text) > 0 {
				t.Fatalf("shown: %q", text)
			}
		}
	})
}
