package browse

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

const (
	// soughtWithin is how many pages of matches of a source are searched for those of one conversation.
	soughtWithin = 5
	// longestContext bounds a conversation that is copied as context.
	longestContext = 30_000
)

// seekWithin shows the messages of a conversation that have the sought words, the oldest first. Each leads to its
// place in the conversation.
func (p *browsePages) seekWithin(ctx context.Context, all *things.Streams, k things.ThreadKey, o *openThread) error {
	var found []things.Thing
	partly := false
	for _, s := range all.SpeakersOf(k) {
		q := api.SearchQuery{Text: o.Sought, ConnectionID: s.ConnectionID, Stream: s.Name, Limit: 100}
		for page := range soughtWithin {
			part, err := p.Owner.Search(ctx, q)
			if err != nil {
				return err
			}
			for _, r := range part.Records {
				t := s.Thing(r)
				if at, known := api.ParseMoment(t.Text("time")); known && t.Text("thread") == k.Thread && !r.Deleted {
					t.At = &at
					found = append(found, t)
				}
			}
			if q.Cursor = part.Next; q.Cursor == "" {
				break
			}
			partly = partly || page == soughtWithin-1
		}
	}
	inOrder(found)
	o.Turns = p.names(ctx, all).turns(k, found, o.Source, p.Now())
	for i := range o.Turns {
		one := o.Turns[i].Message
		if one == nil && len(o.Turns[i].Steps) > 0 {
			one = &o.Turns[i].Steps[0]
		}
		if one != nil {
			one.Address = k.Address() + "?since=" + things.Moment(one.At)
		}
	}
	o.Shown = len(found)
	o.Matches = text.Count(int64(len(found)), "message", "messages") + " with “" + text.Cut(o.Sought, 80) + "”"
	if partly {
		o.Matches += " among the newest matches"
	}
	o.Matches += "."
	o.Earlier, o.Later, o.Missing = "", "", nil
	return nil
}

// threadContext is a conversation as text to paste into another one.
type threadContext struct {
	Title, Text, Back string
	Partly            bool
}

// conversationContext shows a conversation as one text, the newest messages if not all fit.
func (p *browsePages) conversationContext(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	k, err := threadKey(r)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	all, err := p.streams(ctx)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	open, err := p.openThread(ctx, all, k, conversationPart{})
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	found, err := things.Walk{Of: all.SpeakersOf(k), Thread: k.Thread}.Read(ctx, p.Owner, things.Place{}, mostAtOnce)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	c := &threadContext{Title: open.Title, Back: k.Address(), Partly: found.Next != nil}
	c.write(p.names(ctx, all), found.Things, open.Source, p.Now().Location())
	p.show(w, r, "Context, "+open.Title, contextBody(c))
}

// write puts the messages into the text; found has the newest first.
func (c *threadContext) write(n *names, found []things.Thing, source string, zone *time.Location) {
	head := "# " + c.Title + "\n\n" + source + "\n"
	var parts []string
	left := longestContext
	for i := range found {
		t := &found[i]
		who := things.VoiceOf(t)
		words := strings.TrimSpace(text.Lines(t.Text("text")))
		if who == things.VoiceStep || words == "" || t.Text("current") == "false" {
			continue
		}
		one := n.message(t, who, source, t.In.Role("speaker") != "")
		part := "\n## " + one.By + ", " + t.At.In(zone).Format("2 January 2006 15:04") + "\n\n" + words + "\n"
		if left -= len(part); left < 0 {
			c.Partly = true
			break
		}
		parts = append([]string{part}, parts...)
	}
	c.Text = head + strings.Join(parts, "")
}
