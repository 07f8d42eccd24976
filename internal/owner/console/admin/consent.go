package admin

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// consentPage is what an app asks for.
type consentPage struct {
	api.GrantRequest
	names
	Samples samples
}

// count returns how many records of a stream there are now; empty if that is not known.
func (n names) count(g api.GrantStream) string {
	s, known := n[ui.StreamSegments(g.ConnectionID, g.Stream)]
	if !known {
		return ""
	}
	return text.Number(s.Records) + " now, and new ones"
}

func (p *adminPages) consent(w http.ResponseWriter, r *http.Request) {
	asked, err := p.Owner.GrantRequest(r.Context(), r.PathValue("id"))
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	names, err := p.names(r)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	page := consentPage{GrantRequest: asked, names: names}
	if page.Samples, err = p.samples(r, asked); err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	ui.Render(w, r, http.StatusOK, ui.Bare("A request to read", consentBody(&page, p.Now())))
}

// decide answers an app and sends the browser back to it. It answers with a page that navigates
// automatically, not with a redirect. The pages' content security policy restricts form targets,
// including redirects of their answers.
func (p *adminPages) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	decision := r.PostForm.Get("decision")
	if decision != "approve" && decision != "deny" {
		p.ShowFailure(w, r, "sharing",
			api.Invalid("decision", "Nothing was decided.", "Go back and choose one of the two buttons."))
		return
	}
	answer := api.Decision{Approve: decision == "approve"}
	ticked := r.PostForm["stream"]
	if answer.Approve && r.PostForm.Has("choosing") && len(ticked) == 0 {
		p.ShowFailure(w, r, "sharing",
			api.Invalid("stream", "Nothing is ticked.", "Go back and tick what it may read, or decline."))
		return
	}
	if answer.Approve && len(ticked) > 0 {
		asked, err := p.Owner.GrantRequest(r.Context(), r.PathValue("id"))
		if err != nil {
			p.ShowFailure(w, r, "sharing", err)
			return
		}
		for _, s := range asked.Streams {
			if slices.Contains(ticked, streamValue(s)) {
				answer.Streams = append(answer.Streams, s)
			}
		}
	}
	if answer.Approve && r.PostForm.Has("end") {
		end, err := parseDate(r.PostForm.Get("end"), p.Now().Location())
		if err != nil {
			p.ShowFailure(w, r, "sharing",
				api.Invalid("end", "The end is not a date.", "Go back and choose a date, or leave it empty."))
			return
		}
		answer.GrantEnd = grantEnd(end)
	}
	to, err := p.Owner.Decide(r.Context(), r.PathValue("id"), answer)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		p.ShowFailure(w, r, "sharing", api.Invalid("", "The app gave no address to go back to.",
			"Open the app yourself; your decision is kept."))
		return
	}
	w.Header().Set("Refresh", "0; url="+u.String())
	ui.Render(w, r, http.StatusOK, ui.Bare("Back to the app", decidedBody(decision == "approve", u.Host, u.String())))
}

// streamValue identifies a stream in the form of a request that lets the owner choose.
func streamValue(s api.GrantStream) string { return s.ConnectionID + " " + s.Stream }

// samples are the newest records that an app would read, by stream.
type samples map[string][]sampleField

// sampleField is a field of a sample.
type sampleField struct{ Name, Value string }

// The page shows the newest record of at most mostSamples streams, each with at most sampleFields fields.
const (
	mostSamples  = 40
	sampleFields = 8
)

// samples reads the newest record that an app would read of each stream. A choice of records leaves none.
func (p *adminPages) samples(r *http.Request, asked api.GrantRequest) (samples, error) {
	out := samples{}
	for _, s := range asked.Streams {
		if len(out) == mostSamples || len(s.Resources) > 0 {
			continue
		}
		q := api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Stream, Limit: 1}
		if s.Since != nil {
			q.ByTime, q.Since = true, *s.Since
		}
		if s.Until != nil {
			q.ByTime, q.Until = true, *s.Until
		}
		page, err := p.Owner.Records(r.Context(), q)
		if refused := (*api.Error)(nil); err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		if err != nil || len(page.Records) == 0 {
			continue // a stream that is not there yet
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(page.Records[0].Data, &fields) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if len(s.Fields) > 0 && !slices.Contains(s.Fields, name) || len(out[streamValue(s)]) == sampleFields {
				continue
			}
			value := strings.Trim(string(fields[name]), `"`)
			out[streamValue(s)] = append(out[streamValue(s)],
				sampleField{text.Name(name), text.Cut(text.Line(value), ui.LongestCell)})
		}
	}
	return out, nil
}

// lastDay is the day with which the grant would end, as the form has it.
func (page *consentPage) lastDay(now time.Time) string {
	if page.ExpiresAt == nil {
		return ""
	}
	return page.ExpiresAt.In(now.Location()).Add(-time.Nanosecond).Format(time.DateOnly)
}

// hiddenWords returns, for each requested stream, the fields that stay hidden.
func (page *consentPage) hiddenWords() []string {
	var out []string
	for _, s := range page.Streams {
		if hidden := page.hidden(s); len(hidden) > 0 {
			out = append(out, page.stream(s)+": "+text.List(hidden))
		}
	}
	return out
}
