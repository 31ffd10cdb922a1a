package journal_test

import (
	"os/exec"
	"testing"

	"github.com/loomrun/loom/journal"
)

func TestWhoIsAlive(t *testing.T) {
	this := journal.ThisProcess()
	if this.Process == 0 || this.Host == "" || this.Machine == "" || this.Started == "" {
		t.Fatalf("%+v", this)
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Skip("there is no cat: ", err)
	}
	with := func(change func(*journal.Holder)) journal.Holder {
		h := this
		change(&h)
		return h
	}
	ended := with(func(h *journal.Holder) { h.Process = child.Process.Pid; h.Started = "1" })
	for _, c := range []struct {
		what         string
		holder       journal.Holder
		alive, known bool
	}{
		{"this process", this, true, true},
		{"an earlier process of this id", with(func(h *journal.Holder) { h.Started += "0" }), false, true}, // case 97
		{"another process than the one of this id", ended, false, true},
		{"no process", with(func(h *journal.Holder) { h.Process = 1 << 30 }), false, true},
		{"another machine", with(func(h *journal.Holder) { h.Machine = "elsewhere" }), false, false},
		{"a machine that is not known", with(func(h *journal.Holder) { h.Machine = "" }), false, false},
		{"a start that is not known", with(func(h *journal.Holder) { h.Started = "" }), false, false},
	} {
		if alive, known := c.holder.Alive(); alive != c.alive || known != c.known {
			t.Errorf("%s: alive %v, known %v", c.what, alive, known)
		}
	}
	_ = in.Close()
	_ = child.Wait()
	if alive, known := ended.Alive(); alive || !known {
		t.Errorf("a process that has ended: alive %v, known %v", alive, known)
	}
	if got := (journal.Holder{Host: "den", Process: 12}).String(); got != "process 12 on den" {
		t.Error(got)
	}
}
