package audit

import (
	"strings"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// authorityStep begins the names of the steps that ask the authority.
const authorityStep = "authority:"

// reported takes what came of a step.
func (a *auditor) reported(e journal.Entry) error {
	var r journal.Report
	if err := journal.Decode(e.Body, &r); err != nil {
		return err
	}
	capability, authority := strings.CutPrefix(e.Name, authorityStep)
	switch {
	case strings.HasPrefix(e.Name, journal.EffectStep):
		return a.effectEnded(e, r)
	case r.Error != "" || r.NotBegun:
		return nil
	case e.Name == "clock":
		return journal.Decode(string(r.Result), &a.at)
	case e.Name == "ceiling":
		return a.reads.asked(r)
	case e.Name == "start":
		a.started = true
		return journal.Decode(string(r.Result), &a.start)
	case e.Name == "propose":
		var p run.Proposal
		err := journal.Decode(string(r.Result), &p)
		a.end.needsModel = p.NeedsModel
		if p.None {
			a.end.idle++
		}
		return err
	case authority:
		var permission run.Permission
		err := journal.Decode(string(r.Result), &permission)
		a.end.permit(capability, permission)
		return err
	}
	return nil
}
