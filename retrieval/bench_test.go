package retrieval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/handle"
)

// 200 rows of 1 KiB with labels as the own store has them: the rows that fit the size, and the text of them. The bar is 1 ms.
func BenchmarkMeasure(b *testing.B) {
	for name, clauses := range map[string]func(i int) string{
		"one label":   func(int) string { return `OWNER,WORK` },
		"many labels": func(i int) string { return fmt.Sprintf(`OWNER,{"anyOf":[WORK,{"type":"f","n":%d}]}`, i) },
		"all withheld": func(i int) string {
			return fmt.Sprintf(`OWNER,{"type":"loom/Facet","facet":"f%d","subject":"s"}`, i)
		},
	} {
		rows := make([]string, 200)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"id":"m%d","kind":"mail","at":"2026-11-30T09:00:00Z","score":1.%d,"people":["alice@example.com","bob@example.com"],"snippet":"%s",`+
				`"ifc":{"confidentiality":[%s],"integrity":[{"type":"loom/Observed","connector":"mail.mbox"}]}}`, i, i, strings.Repeat("some words ", 70), clauses(i))
		}
		m := measuring(b, `{"query":"x","hits":[`+strings.Join(rows, ",")+`],"source_status":{"mail.mbox":{"status":"ok","hits":200}},"warnings":[],"truncated":false}`)
		m.Ceiling, m.Query = ceiling(b, `[OWNER,WORK]`), confidential(b, `[OWNER]`)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Handles = handle.NewTable("run-1")
				r := measure(b, m)
				r.Shown()
				r.Artifact()
			}
		})
	}
}
