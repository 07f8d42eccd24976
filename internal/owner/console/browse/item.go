package browse

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

// item is one thing on the timeline: a record, or a burst of them.
type item struct {
	At          time.Time
	WholeDay    bool
	Class       string // of its kind
	Pictures    []things.Picture
	Title, Note string
	From        string
	Address     string
	Current     bool
}

// burst is from how many records of one stream on they are one item.
const burst = 5

// items returns the items of a day, newest first. Messages of one conversation form one item, and
// so do many records of one stream.
func (n *names) items(happened []happening, at choice) (out []item) {
	threads := map[things.ThreadKey][]*things.Thing{}
	for i := range happened {
		h := &happened[i]
		var alike []*things.Thing
		for j := range h.things {
			t := &h.things[j]
			if k, is := things.ThreadOf(t); is && t.In.Role("title") == "" || is && t.In.Kind() == manifest.KindEvent {
				threads[k] = append(threads[k], t)
			} else {
				alike = append(alike, t)
			}
		}
		if (len(alike) > burst || len(alike) > 1 && allPictures(alike)) && h.in.Kind() != manifest.KindMessage {
			count := int64(len(alike))
			if h.in.Folds() {
				count = h.count
			}
			out = append(out, n.many(h.in, alike, count, at))
			continue
		}
		for _, t := range alike {
			out = append(out, n.single(t, at))
		}
	}
	n.Learn(newestThreads(threads))
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
func newestThreads(threads map[things.ThreadKey][]*things.Thing) (out [][3]string) {
	last := func(k things.ThreadKey) time.Time { return *threads[k][0].At }
	for _, k := range slices.SortedFunc(maps.Keys(threads), func(a, b things.ThreadKey) int {
		return cmp.Or(last(b).Compare(last(a)), strings.Compare(a.Connection, b.Connection),
			strings.Compare(a.Stream, b.Stream), strings.Compare(a.Thread, b.Thread))
	}) {
		out = append(out, [3]string{k.Connection, k.Stream, k.Thread})
	}
	return out
}

// spoken is a conversation of the day, the newest first in all.
func (n *names) spoken(k things.ThreadKey, all []*things.Thing) item {
	slices.SortStableFunc(all, func(a, b *things.Thing) int { return b.At.Compare(*a.At) })
	first, last := *all[len(all)-1].At, *all[0].At
	it := item{At: last, Class: "k-talk", From: all[0].In.ConnectionName,
		Address: k.Address() + "?until=" + things.Moment(last.Add(time.Microsecond))}
	var listed []*things.Thing
	dialogue := false
	steps := 0
	for _, t := range all {
		switch {
		case things.VoiceOf(t) == things.VoiceStep:
			steps++
		case t.Text("current") != "false": // nor what another version took the place of
			listed = append(listed, t)
		}
		dialogue = dialogue || t.In.Role("speaker") != ""
	}
	title := n.Title(k.Connection, k.Stream, k.Thread)
	counted := text.Count(int64(len(listed)), "message", "messages")
	if steps > 0 {
		counted = strings.TrimPrefix(counted+" and ", "0 messages and ") + text.Count(int64(steps), "step", "steps")
	}
	switch {
	case dialogue:
		it.Title, it.Note = cmp.Or(title, counted), counted
		if len(listed) > 0 {
			it.Note += ": " + listed[len(listed)-1].Line("text", things.LongestNote)
		} else if took := int64(last.Sub(first) / time.Second); took >= 60 {
			it.Note += ", " + words.ShortSpan(took)
		}
	case len(listed) == 0:
		it.Title = cmp.Or(title, counted)
		it.Note = counted
	case len(listed) <= 3:
		it.Title = n.spokenBy(listed[0]) + cmp.Or(listed[0].Line("text", things.LongestTitle), "without words")
		if len(listed) > 1 {
			it.Note = "and " + text.Count(int64(len(listed)-1), "more message", "more messages")
		}
		if title != "" {
			it.Note = strings.TrimPrefix(it.Note+", ", ", ") + title
		}
	default:
		with := cmp.Or(title, n.participants(deref(listed)))
		it.Title = counted
		if with != "" {
			it.Title += " with " + with
		}
		it.Note = "Last: " + cmp.Or(listed[0].Line("text", things.LongestNote), "without words")
	}
	return it
}

func deref(all []*things.Thing) []things.Thing {
	out := make([]things.Thing, len(all))
	for i, t := range all {
		out[i] = *t
	}
	return out
}

// spokenBy returns the author's name as a prefix for the message.
func (n *names) spokenBy(t *things.Thing) string {
	if things.VoiceOf(t) == things.VoiceOwner {
		return "You: "
	}
	if by := n.Of(t, "author"); by != "" {
		return by + ": "
	}
	return ""
}

// many is a burst of so many records of one stream, the newest of which were read.
func (n *names) many(s *things.Stream, newest []*things.Thing, count int64, at choice) item {
	it := item{At: *newest[0].At, WholeDay: s.Display.Days, Class: s.Class(), From: s.ConnectionName,
		Address: "/search?connection=" + ui.Segment(s.ConnectionID) + "&stream=" + ui.Segment(s.Name)}
	one, several := "record", "records"
	if kind, is := records.KindOf(&s.Stream); is {
		one, several = kind.One, kind.Many
	}
	for _, t := range newest {
		if t.IsPicture() && len(it.Pictures) < picturesOfADay {
			shown := t.Picture()
			shown.Title, shown.Address = t.PictureName(), at.beside(t)
			it.Pictures = append(it.Pictures, shown)
		}
	}
	if allPictures(newest) {
		one, several = "photo", "photos"
	}
	it.Title = text.Count(count, one, several)
	if count > api.MostCounted {
		it.Title = "More than " + text.Number(api.MostCounted) + " " + several
	}
	if s.Kind() != manifest.KindFile {
		it.Title += ": " + s.Label
	}
	if last := n.called(newest[0]); last != "" && len(it.Pictures) == 0 {
		it.Note = "Last: " + last
	}
	return it
}

// allPictures reports whether all of some things can be shown small.
func allPictures(all []*things.Thing) bool {
	return !slices.ContainsFunc(all,
		func(t *things.Thing) bool { return t.In.Kind() != manifest.KindFile || !t.IsPicture() })
}

// single is one record, which opens beside the list.
func (n *names) single(t *things.Thing, at choice) item {
	it := item{At: *t.At, WholeDay: t.In.Display.Days, Class: t.In.Class(), From: t.In.ConnectionName,
		Title: cmp.Or(n.called(t), t.In.Label), Address: at.beside(t)}
	if t.IsPicture() {
		shown := t.Picture()
		shown.Title, shown.Address = t.PictureName(), it.Address
		it.Title, it.Pictures = shown.Title, []things.Picture{shown}
		return it
	}
	if t.Line("title", things.LongestTitle) != "" {
		it.Note = t.Line("text", things.LongestNote)
	}
	return it
}

// called is what a record is called on the timeline: with who wrote it, what was paid, what was measured.
func (n *names) called(t *things.Thing) string {
	title := t.Title()
	if related := t.In.Display.Related["title"]; related != "" {
		title = n.Of(t, "title")
	}
	switch t.In.Kind() {
	case manifest.KindMessage:
		return n.spokenBy(t) + cmp.Or(title, "without a subject")
	case manifest.KindTransaction:
		if amount, ok := t.Number("amount"); ok {
			return strings.TrimPrefix(title+", ", ", ") + things.Money(amount, t.Currency())
		}
	case manifest.KindMeasurement, manifest.KindEvent:
		if value, ok := t.Number("value"); ok {
			name, unit := cmp.Or(title, text.Name(n.Of(t, "series")), t.In.Label), cmp.Or(t.Line("unit", 24), t.In.Display.Unit)
			if strings.EqualFold(name, unit) {
				return things.Measured(value, unit)
			}
			return name + ": " + things.Measured(value, unit)
		}
		if by := n.Of(t, "author"); by != "" && title != "" && t.In.Kind() == manifest.KindEvent {
			return by + ": " + title
		}
	case manifest.KindFile:
		if t.IsPicture() {
			return t.PictureName()
		}
	case manifest.KindPlace:
		return cmp.Or(title, t.Line("latitude", 12)+", "+t.Line("longitude", 12))
	}
	return title
}
