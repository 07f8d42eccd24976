package browse

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

// item is one thing on the timeline: a record, or a burst of them.
type item struct {
	At          time.Time
	WholeDay    bool
	Icon        manifest.DisplayKind
	Title, Note string
	From        string
	Address     string
	Current     bool
}

// burst is from how many records of one stream on they are one item.
const burst = 5

// folds reports whether many records of the stream on one day are shown as one item. That item
// shows the newest record.
func (s *stream) folds() bool { return s.role("thread") == "" && s.kind() != manifest.KindMessage }

// items returns the items of a day, newest first. Messages of one conversation form one item, and
// so do many records of one stream.
func (n *names) items(happened []happening, at choice) (out []item) {
	threads := map[threadKey][]*thing{}
	for i := range happened {
		h := &happened[i]
		var alike []*thing
		for j := range h.things {
			t := &h.things[j]
			if k, is := threadOf(t); is && t.in.role("title") == "" || is && t.in.kind() == manifest.KindEvent {
				threads[k] = append(threads[k], t)
			} else {
				alike = append(alike, t)
			}
		}
		if len(alike) > burst && h.in.kind() != manifest.KindMessage {
			count := int64(len(alike))
			if h.in.folds() {
				count = h.count
			}
			out = append(out, n.many(h.in, alike[0], count))
			continue
		}
		for _, t := range alike {
			out = append(out, n.single(t, at))
		}
	}
	n.learn(newestThreads(threads))
	for k, all := range threads {
		out = append(out, n.spoken(k, all))
	}
	slices.SortFunc(out, func(a, b item) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.From, b.From), strings.Compare(a.Title, b.Title),
			strings.Compare(a.Address, b.Address))
	})
	return out
}

// newestThreads names conversations, those with the newest words first: of more than are looked up it is these that
// have a name.
func newestThreads(threads map[threadKey][]*thing) (out [][3]string) {
	last := func(k threadKey) time.Time { return *threads[k][0].At }
	for _, k := range slices.SortedFunc(maps.Keys(threads), func(a, b threadKey) int {
		return cmp.Or(last(b).Compare(last(a)), strings.Compare(a.connection, b.connection),
			strings.Compare(a.stream, b.stream), strings.Compare(a.thread, b.thread))
	}) {
		out = append(out, [3]string{k.connection, k.stream, k.thread})
	}
	return out
}

// spoken is a conversation of the day, the newest first in all.
func (n *names) spoken(k threadKey, all []*thing) item {
	slices.SortStableFunc(all, func(a, b *thing) int { return b.At.Compare(*a.At) })
	first, last := *all[len(all)-1].At, *all[0].At
	it := item{At: last, Icon: manifest.KindMessage, From: all[0].in.ConnectionName,
		Address: k.address() + "?until=" + moment(last.Add(time.Microsecond))}
	var things []*thing
	dialogue := false
	steps := 0
	for _, t := range all {
		switch {
		case voiceOf(t) == voiceStep:
			steps++
		case t.text("current") != "false": // nor what another version took the place of
			things = append(things, t)
		}
		dialogue = dialogue || t.in.role("speaker") != ""
	}
	title := n.title(k.connection, k.stream, k.thread)
	counted := text.Count(int64(len(things)), "message", "messages")
	if steps > 0 {
		counted = strings.TrimPrefix(counted+" and ", "0 messages and ") + text.Count(int64(steps), "step", "steps")
	}
	switch {
	case dialogue:
		it.Title, it.Note = cmp.Or(title, counted), counted
		if len(things) > 0 {
			it.Note += ": " + things[len(things)-1].line("text", longestNote)
		} else if took := int64(last.Sub(first) / time.Second); took >= 60 {
			it.Note += ", " + words.ShortSpan(took)
		}
	case len(things) == 0:
		it.Title = cmp.Or(title, counted)
		it.Note = counted
	case len(things) <= 3:
		it.Title = n.spokenBy(things[0]) + cmp.Or(things[0].line("text", longestTitle), "without words")
		if len(things) > 1 {
			it.Note = "and " + text.Count(int64(len(things)-1), "more message", "more messages")
		}
		if title != "" {
			it.Note = strings.TrimPrefix(it.Note+", ", ", ") + title
		}
	default:
		with := cmp.Or(title, n.participants(deref(things)))
		it.Title = counted
		if with != "" {
			it.Title += " with " + with
		}
		it.Note = "Last: " + cmp.Or(things[0].line("text", longestNote), "without words")
	}
	return it
}

func deref(all []*thing) []thing {
	out := make([]thing, len(all))
	for i, t := range all {
		out[i] = *t
	}
	return out
}

// spokenBy returns the author's name as a prefix for the message.
func (n *names) spokenBy(t *thing) string {
	if voiceOf(t) == voiceOwner {
		return "You: "
	}
	if by := n.of(t, "author"); by != "" {
		return by + ": "
	}
	return ""
}

// many is a burst of so many records of one stream.
func (n *names) many(s *stream, newest *thing, count int64) item {
	counted := text.Count(count, "record", "records")
	if count > api.MostCounted {
		counted = "More than " + text.Number(api.MostCounted) + " records"
	}
	it := item{At: *newest.At, WholeDay: s.Display.Days, Icon: s.kind(), From: s.ConnectionName, Title: counted + ": " +
		s.Label,
		Address: "/search?connection=" + ui.Segment(s.ConnectionID) + "&stream=" + ui.Segment(s.Name)}
	if last := n.called(newest); last != "" {
		it.Note = "Last: " + last
	}
	return it
}

// single is one record, which opens beside the list.
func (n *names) single(t *thing, at choice) item {
	at.record = t.description()
	it := item{At: *t.At, WholeDay: t.in.Display.Days, Icon: t.in.kind(), From: t.in.ConnectionName,
		Title: cmp.Or(n.called(t), t.in.Label), Address: at.address() + "#record"}
	if t.line("title", longestTitle) != "" {
		it.Note = t.line("text", longestNote)
	}
	return it
}

// called is what a record is called on the timeline: with who wrote it, what was paid, what was measured.
func (n *names) called(t *thing) string {
	title := t.title()
	if related := t.in.Display.Related["title"]; related != "" {
		title = n.of(t, "title")
	}
	switch t.in.kind() {
	case manifest.KindMessage:
		return n.spokenBy(t) + cmp.Or(title, "without a subject")
	case manifest.KindTransaction:
		if amount, ok := t.number("amount"); ok {
			return strings.TrimPrefix(title+", ", ", ") + figure(amount, 2) + after(" ", t.line("currency", 12))
		}
	case manifest.KindMeasurement, manifest.KindEvent:
		if value, ok := t.number("value"); ok {
			return cmp.Or(title, text.Name(n.of(t, "series")), t.in.Label) + ": " + figure(value, -1) +
				after(" ", cmp.Or(t.line("unit", 24), t.in.Display.Unit))
		}
		if by := n.of(t, "author"); by != "" && title != "" && t.in.kind() == manifest.KindEvent {
			return by + ": " + title
		}
	case manifest.KindPlace:
		return cmp.Or(title, t.line("latitude", 12)+", "+t.line("longitude", 12))
	}
	return title
}

// after puts a separator before words, if there are any.
func after(separator, words string) string {
	if words == "" {
		return ""
	}
	return separator + words
}

// figure writes a number for reading; digits below zero mean up to two as needed.
func figure(n float64, digits int) string {
	line := strconv.FormatFloat(n, 'f', 2, 64)
	if digits < 0 {
		line = strings.TrimSuffix(strings.TrimRight(line, "0"), ".")
	}
	whole, fraction, found := strings.Cut(strings.TrimPrefix(line, "-"), ".")
	if v, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = text.Number(v)
	}
	if found {
		whole += "." + fraction
	}
	if strings.HasPrefix(line, "-") {
		return "−" + whole
	}
	return whole
}
