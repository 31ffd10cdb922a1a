package audit_test

import (
	"slices"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/audit"
)

// Whatever a record holds, its check ends, gives the same twice, and says why it does not pass.
func FuzzCheck(f *testing.F) {
	var good []*journal.Record
	for _, g := range goodRuns() {
		good = append(good, g.scene.plays(f))
	}
	for i, r := range good {
		f.Add(uint8(i), uint16(len(r.Entries)/2), uint8(i), "Stopped", "{}", "")
		f.Add(uint8(i), uint16(len(r.Entries)-1), uint8(i), "", `{"Step":1}`, shop)
	}
	kinds := []journal.Kind{journal.Begun, journal.Asked, journal.Reported, journal.Told, journal.Resumed, "dreamt"}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, how uint8, name, body, definition string) {
		g := forge(t, good[int(which)%len(good)])
		i := int(at) % len(g.Entries)
		e := &g.Entries[i]
		switch how % 8 {
		case 0:
			e.Body = body
		case 1:
			e.Name = name
		case 2:
			e.Kind, e.Name, e.Body = kinds[len(name)%len(kinds)], name, body
		case 3:
			g.Entries = slices.Delete(g.Entries, i, i+1)
		case 4:
			g.Entries = slices.Insert(g.Entries, i, g.Entries[len(body)%len(g.Entries)])
		case 5:
			j := len(body) % len(g.Entries)
			g.Entries[i], g.Entries[j] = g.Entries[j], g.Entries[i]
		case 6:
			g.Entries = g.Entries[:i]
		case 7:
			if definition != "" && slices.ContainsFunc(g.Entries, func(e journal.Entry) bool { return e.Name == "CaseOpened" }) {
				g.redefine(definition)
			}
		}
		g.seal()
		report := audit.Check(g.Record, tables(g.Entries))
		again := audit.Check(g.Record, tables(g.Entries))
		if string(report.JSON()) != string(again.JSON()) {
			t.Errorf("two reports of one record:\n%s\n%s", report.JSON(), again.JSON())
		}
		for _, c := range report.Checks {
			if c.Verdict != audit.Pass && len(c.Findings) == 0 {
				t.Errorf("%s is %s and does not say why", c.Name, c.Verdict)
			}
		}
	})
}
