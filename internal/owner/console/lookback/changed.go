package lookback

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

const (
	// changesShown is how many things a page shows with their versions.
	changesShown = 20
	// streamsRead bounds how many streams are looked through, and changesRead how many changes of each.
	streamsRead = 30
	changesRead = 200
	// fieldsShown is how many fields of a change stand beside each other, and longestField how much of each.
	fieldsShown  = 6
	longestField = 400
)

// What a page is narrowed to.
const (
	edited  = "edited"
	removed = "removed"
)

// changesPage is what sources edited or removed lately.
type changesPage struct {
	What    string
	Kinds   []whatLink
	Changes []changedThing
	Sources []sourceLink // all changes of one source
	Until   string       // moment from which the page leads on; empty means the newest
	Older   string
}

type whatLink struct {
	Label, Address string
	Current        bool
}

type sourceLink struct{ Name, Address string }

// changedThing is one thing with its newest change.
type changedThing struct {
	Title, Source, Class, Address string
	At                            time.Time
	Removed                       bool
	Versions                      int64
	Fields                        []changedField
	More                          int
	Last                          string // the last words of what was removed
	Back                          string // the address of the version before
	key                           api.Record
}

// changedField is a field before and after.
type changedField struct{ Name, Before, After string }

func (p *backPages) changed(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("source") != "" {
		p.ChangesOfSource.ServeHTTP(w, r)
		return
	}
	page := &changesPage{What: q.Get("what")}
	until, known := api.ParseMoment(q.Get("until"))
	if known {
		page.Until = q.Get("until")
	}
	if err := p.readChanges(r.Context(), page, until); err != nil {
		p.ShowFailure(w, r, "changed", err)
		return
	}
	for _, k := range []struct{ what, label string }{{"", "All"}, {edited, "Edited"}, {removed, "Removed at the source"}} {
		page.Kinds = append(page.Kinds, whatLink{Label: k.label, Address: changesAddress(k.what, ""),
			Current: k.what == page.What})
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "What changed", "changed"), changesBody(page, p.Now()))
}

func changesAddress(what, until string) string {
	q := url.Values{}
	for name, value := range map[string]string{"what": what, "until": until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return ui.QueryAddress(changedPage, q)
}

// readChanges reads what was edited or removed among the newest changes of each stream.
func (p *backPages) readChanges(ctx context.Context, page *changesPage, until time.Time) error {
	all, err := things.ReadStreams(ctx, p.Owner)
	if err != nil {
		return err
	}
	var of []*things.Stream
	for i := range all.All {
		s := &all.All[i]
		if !slices.ContainsFunc(page.Sources, func(one sourceLink) bool { return one.Name == s.ConnectionName }) {
			page.Sources = append(page.Sources, sourceLink{s.ConnectionName,
				ui.QueryAddress(changedPage, url.Values{"source": {s.ConnectionID}})})
		}
		// A stream in which every key changed once has nothing that was edited.
		if s.LastSeq > s.Records || s.Deleted > 0 {
			of = append(of, s)
		}
	}
	slices.SortStableFunc(of, func(a, b *things.Stream) int { return updated(b).Compare(updated(a)) })
	of = of[:min(len(of), streamsRead)]
	found := make([][]changedThing, len(of))
	var reading errgroup.Group
	reading.SetLimit(things.Readers)
	for i, s := range of {
		reading.Go(func() (err error) {
			found[i], err = p.changesOf(ctx, s, page.What, until)
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return err
	}
	page.Changes = slices.Concat(found...)
	slices.SortStableFunc(page.Changes, func(a, b changedThing) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Address, b.Address))
	})
	if len(page.Changes) > changesShown {
		page.Changes = page.Changes[:changesShown]
		page.Older = changesAddress(page.What, things.Moment(page.Changes[changesShown-1].At))
	}
	for i := range page.Changes {
		if err := p.versionsOf(ctx, &page.Changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func updated(s *things.Stream) time.Time {
	if s.UpdatedAt == nil {
		return time.Time{}
	}
	return *s.UpdatedAt
}

// changesOf returns what was edited or removed among the newest changes of a stream.
func (p *backPages) changesOf(ctx context.Context, s *things.Stream, what string, until time.Time) (out []changedThing,
	err error) {
	found, err := p.Owner.Changes(ctx, api.ChangeQuery{ConnectionID: s.ConnectionID, Stream: s.Name,
		After: max(0, s.LastSeq-changesRead), Limit: changesRead})
	for _, r := range found {
		if r.Version < 2 && !r.Deleted || what == edited && r.Deleted || what == removed && !r.Deleted ||
			!until.IsZero() && !r.ChangedAt.Before(until) {
			continue
		}
		id := things.ID{Connection: r.ConnectionID, Stream: r.Stream, Key: r.Key}
		out = append(out, changedThing{Source: s.ConnectionName, Class: s.Class(), Address: "/thing/" + id.Path(),
			At: r.ChangedAt, Removed: r.Deleted, Versions: r.Version, key: r})
	}
	return out, err
}

// versionsOf reads what a thing was before its newest change.
func (p *backPages) versionsOf(ctx context.Context, c *changedThing) error {
	o, err := records.Open(ctx, p.Owner, c.key.ConnectionID, c.key.Stream, c.key.Key)
	if err != nil {
		return err
	}
	c.Title = o.Title
	if c.Removed {
		for _, v := range o.Values {
			line := text.Line(v.Text)
			_, isTime := api.ParseMoment(line)
			if !isTime && len(line) > len(c.Last) && line != c.Title && line != c.key.Key {
				c.Last = text.Cut(line, longestField)
			}
		}
		return nil
	}
	if len(o.History) < 2 {
		return nil
	}
	newest := o.History[0]
	for _, one := range newest.Changes[:min(len(newest.Changes), fieldsShown)] {
		c.Fields = append(c.Fields, changedField{Name: text.Name(one.Path), Before: fieldWords(one.From),
			After: fieldWords(one.To)})
	}
	c.More = len(newest.Changes) + newest.More - len(c.Fields)
	c.Back = ui.QueryAddress(c.Address, url.Values{"on": {things.Moment(o.History[1].At)}})
	return nil
}

// fieldWords is a JSON value as people read it.
func fieldWords(raw string) string {
	var words string
	if json.Unmarshal([]byte(raw), &words) != nil {
		words = raw
	}
	return text.Cut(text.Line(words), longestField)
}
