package status

import (
	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// actionButton is how an owner takes an action of a verdict from a page: by a form that is
// sent, at a place to go to, or, with neither, somewhere else.
type actionButton struct {
	CTA  string
	Kind string
	// Post is the address of a form that takes the action; Ack is sent as its kind.
	Post string
	Ack  string
	// Go is the place where the action is taken.
	Go string
	// Solid is for what only the owner can move.
	Solid bool
	// Further is for an action after the first.
	Further bool
}

// mark returns an attribute that names the action for scripts and tests.
func (d *actionButton) mark() templ.Attributes {
	if d.Further {
		return templ.Attributes{}
	}
	return templ.Attributes{"data-action": d.Kind}
}

// localDevice is the kind of a source that the owner's own machine collects.
const localDevice = "local_device"

// actionButtonOf returns nil for an action that the owner cannot take. The page then shows only
// its sentence.
func actionButtonOf(c *view.Connection, a *verdict.RequiredAction) *actionButton {
	if a.Audience != verdict.AudienceOwner {
		return nil
	}
	d := &actionButton{CTA: a.CTA, Kind: string(a.Kind), Solid: c.Verdict.Channel == verdict.Attention}
	switch {
	case a.Kind == verdict.ReattachSchedule:
		d.Post, d.Ack = connectionPath(c.ID)+"/acknowledge", string(a.Kind)
	case signsIn(c, a):
		d.Post = api.SignInPage(c.ID)
	case a.Kind == verdict.Reauth, a.Kind == verdict.AddInfo, c.SourceKind == localDevice:
		d.Go = askPath(c.ID)
	case a.Kind == verdict.RefreshNow, a.Kind == verdict.RetryGap, a.Kind == verdict.Backfill:
		d.Post = connectionPath(c.ID) + "/run"
	default:
		d.Go = askPath(c.ID)
	}
	return d
}

// primary is the first action, when it is the owner's.
func primary(c *view.Connection) *actionButton {
	if len(c.Verdict.RequiredActions) == 0 {
		return nil
	}
	return actionButtonOf(c, &c.Verdict.RequiredActions[0])
}

// further returns the actions after the first, in order. An action that the owner cannot take has
// only its text.
func further(c *view.Connection) []actionButton {
	var out []actionButton
	for i := range c.Verdict.RequiredActions {
		a := &c.Verdict.RequiredActions[i]
		if i == 0 {
			continue
		}
		if d := actionButtonOf(c, a); d != nil {
			d.Solid, d.Further = false, true
			out = append(out, *d)
		} else {
			out = append(out, actionButton{CTA: a.CTA, Kind: string(a.Kind), Further: true})
		}
	}
	return out
}

// note is the one annotation beside the sentence; empty when there is none.
func note(v *verdict.Verdict) string {
	if len(v.Annotations) == 0 {
		return ""
	}
	return v.Annotations[0].Text
}

// scale returns how much work is stuck on a device, with a number for each kind.
func scale(counts []view.StuckCount) string {
	line := ""
	for i, c := range counts {
		if i > 0 {
			line += ", "
		}
		line += text.Number(c.Count) + " " + c.Label
	}
	return line
}
