package status

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// longestForm bounds what a form of these pages may hold.
const longestForm = 256 << 10

// fieldPrefix marks inputs named by a connector, so that they cannot replace the page's own
// inputs.
const fieldPrefix = "field."

// form parses a form. On failure it writes the response and returns false.
func (p *Pages) form(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, &api.Error{
			Status: http.StatusBadRequest, Code: api.CodeInvalid, Message: "This form could not be read.",
			Next: "Send it again.", Err: err,
		})
		return false
	}
	return true
}

// fields returns the inputs that a connector named.
func fields(r *http.Request) map[string]string {
	out := map[string]string{}
	for name, values := range r.PostForm {
		if own, ok := strings.CutPrefix(name, fieldPrefix); ok && len(values) > 0 {
			out[own] = values[0]
		}
	}
	return out
}

// done answers for an action: with what went wrong, or with the page on which the
// change is about to be seen.
func (p *Pages) done(w http.ResponseWriter, r *http.Request, err error, to string, m ui.Message) {
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.hub.nudge()
	ui.Done(w, r, to, m)
}

func (p *Pages) postRun(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id, ask := r.PathValue("id"), p.owner.Run
	if r.PostForm.Get("ask_anyway") == "true" {
		ask = p.owner.RunAnyway
	}
	err := ask(r.Context(), id)
	p.done(w, r, err, connectionPath(id), ui.Good("A run was asked for. It begins in a moment, and this page follows it."))
}

func (p *Pages) postCredential(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	err := p.owner.SetCredential(r.Context(), id, fields(r))
	p.done(w, r, err, connectionPath(id),
		ui.Message{Kind: "note", Text: "Checking the credential. This page shows the result."})
}

func (p *Pages) postAcknowledge(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	err := p.owner.Acknowledge(r.Context(), id, r.PostForm.Get("kind"))
	p.done(w, r, err, connectionPath(id), ui.Good("Done. This page shows what comes of it."))
}

func (p *Pages) postRename(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	err := p.owner.Rename(r.Context(), id, strings.TrimSpace(r.PostForm.Get("name")))
	p.done(w, r, err, connectionPath(id), ui.Good("The name is changed."))
}

func (p *Pages) postSchedule(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	seconds, err := strconv.ParseInt(r.PostForm.Get("interval_seconds"), 10, 64)
	if err != nil {
		p.fail(w, r, api.Invalid("interval_seconds", "This rhythm could not be read.", "Choose one of the list."))
		return
	}
	d, err := p.owner.Connection(r.Context(), id)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	s := api.Schedule{IntervalSeconds: seconds, Enabled: r.PostForm.Get("enabled") == "true"}
	message := words.RunInterval(seconds) + "."
	if d.Plan != nil {
		s.JitterSeconds = d.Plan.JitterSeconds
	}
	if !s.Enabled {
		message = "The schedule is paused. It collects only when you ask."
	}
	err = p.owner.SetSchedule(r.Context(), id, s)
	p.done(w, r, err, connectionPath(id), ui.Good(message))
}

func (p *Pages) postLimits(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	var l api.Limits
	for _, one := range []struct {
		name string
		set  func(float64)
	}{
		{"ceiling_per_minute", func(n float64) { l.CeilingPerMinute = n }},
		{"max_whole_run_seconds", func(n float64) { l.MaxWholeSeconds = int64(n) }},
		{"max_run_seconds", func(n float64) { l.MaxSeconds = int64(n) }},
		{"max_detail_fetches", func(n float64) { l.MaxDetails = int64(n) }},
	} {
		text := strings.TrimSpace(r.PostForm.Get(one.name))
		if text == "" {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1e9) {
			p.fail(w, r, api.Invalid(one.name, "This number could not be taken.", "Give a number, or leave the field empty."))
			return
		}
		one.set(n)
	}
	err := p.owner.SetLimits(r.Context(), id, l)
	p.done(w, r, err, connectionPath(id), ui.Good("Saved. It holds from the next run on."))
}

// postSelection takes a profile, a view for each stream, and one record a line, as
// STREAM=KEY.
func (p *Pages) postSelection(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	chosen := api.Selection{Profile: r.PostForm.Get("profile"), Streams: []api.SelectedStream{}}
	named := func(stream string) *api.SelectedStream {
		i := slices.IndexFunc(chosen.Streams, func(c api.SelectedStream) bool { return c.Stream == stream })
		if i < 0 {
			chosen.Streams = append(chosen.Streams, api.SelectedStream{Stream: stream})
			i = len(chosen.Streams) - 1
		}
		return &chosen.Streams[i]
	}
	for name, views := range r.PostForm {
		if stream, is := strings.CutPrefix(name, ui.ViewMark); is && views[0] != "" {
			named(stream).View = views[0]
		}
	}
	for line := range strings.Lines(r.PostForm.Get("records")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		stream, key, ok := strings.Cut(line, "=")
		if !ok {
			p.fail(w, r, api.Invalid("records", "A line names no record: "+line, "Write one record a line: STREAM=KEY."))
			return
		}
		at := named(stream)
		at.Resources = append(at.Resources, key)
	}
	if r.PostForm.Get("once") != "" {
		err := p.owner.Collect(r.Context(), id, chosen)
		p.done(w, r, err, connectionPath(id), ui.Good("A run that fetches these records is asked for."))
		return
	}
	err := p.owner.SetSelection(r.Context(), id, chosen)
	p.done(w, r, err, connectionPath(id), ui.Good("Saved. It holds from the next run on."))
}

func (p *Pages) postRevoke(w http.ResponseWriter, r *http.Request) {
	err := p.owner.Revoke(r.Context(), r.PathValue("id"))
	p.done(w, r, err, "/", ui.Good("Disconnected. Its records stay, and its credential is deleted."))
}
