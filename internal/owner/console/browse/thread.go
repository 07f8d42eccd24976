package browse

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/prose"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	// threadPage is how many messages fill a page, and mostAtOnce how many of one moment.
	threadPage = 100
	mostAtOnce = 1000
)

// conversationPart is the part of a conversation that a page shows: what is before a moment, or from one
// on; without either the end. Within a moment of more than a page has, it goes on at a place.
type conversationPart struct {
	since, until time.Time
	within       things.Place
}

// thread is a page of a conversation.
type thread struct {
	listed         []things.Thing // in the order of time
	total          int64          // of its messages, or api.MostCounted and one when there are more
	earlier, later string         // addresses of the pages around it
}

// readThread reads a page of every stream of a conversation and puts them together. A moment
// that a page of one of the streams ends in belongs to the next page as a whole.
func (p *browsePages) readThread(ctx context.Context, all *things.Streams, k things.ThreadKey,
	at conversationPart) (*thread, error) {
	if at.within != (things.Place{}) {
		t, _, err := p.readSpan(ctx, all, k, at, 1)
		if err != nil {
			return nil, err
		}
		return p.readWithin(ctx, all, k, at, t)
	}
	for _, limit := range []int{threadPage, mostAtOnce} {
		t, cut, err := p.readSpan(ctx, all, k, at, limit)
		if err != nil {
			return nil, err
		}
		forward := !at.since.IsZero()
		if !cut.IsZero() {
			kept := slices.DeleteFunc(slices.Clone(t.listed), func(one things.Thing) bool {
				if forward {
					return !one.At.Before(cut)
				}
				return !one.At.After(cut)
			})
			if len(kept) == 0 && limit < mostAtOnce {
				continue // all of one moment
			}
			if len(kept) == 0 {
				return p.readWithin(ctx, all, k, at, t)
			}
			t.listed = kept
		}
		switch {
		case forward:
			t.earlier = k.Address() + "?until=" + things.Moment(at.since)
			if !cut.IsZero() {
				t.later = k.Address() + "?since=" + things.Moment(cut)
			}
		default:
			if !cut.IsZero() {
				t.earlier = k.Address() + "?until=" + things.Moment(cut.Add(time.Microsecond))
			}
			if !at.until.IsZero() {
				t.later = k.Address() + "?since=" + things.Moment(at.until)
			}
		}
		return t, nil
	}
	return nil, nil
}

// readWithin reads on where so much is of one moment that no page has all of it: t has the totals.
func (p *browsePages) readWithin(
	ctx context.Context,
	all *things.Streams,
	k things.ThreadKey,
	at conversationPart,
	t *thread,
) (*thread, error) {
	w := things.Walk{Of: all.SpeakersOf(k), Thread: k.Thread, Oldest: !at.since.IsZero()}
	from := at.within
	switch {
	case from != (things.Place{}):
	case w.Oldest:
		from = things.Place{At: at.since}
	case !at.until.IsZero():
		from = things.Place{At: at.until.Add(-time.Microsecond)}
	}
	found, err := w.Read(ctx, p.Owner, from, mostAtOnce)
	if err != nil {
		return nil, err
	}
	t.listed = found.Things
	inOrder(t.listed)
	address := func(name string, at things.Place) string {
		q := url.Values{}
		at.Write(q, name)
		return k.Address() + "?" + q.Encode()
	}
	if found.Next != nil && w.Oldest {
		t.later = address("since", *found.Next)
	} else if found.Next != nil {
		t.earlier = address("until", *found.Next)
	}
	// The other way leads back to the beginning of the moment that was begun with.
	switch {
	case w.Oldest:
		t.earlier = k.Address() + "?until=" + things.Moment(from.At)
	case !from.At.IsZero():
		t.later = k.Address() + "?since=" + things.Moment(from.At)
	}
	return t, nil
}

// readSpan reads so many records of each stream. Cut is the moment that the first of the
// streams with more of them ended at; zero when all are there.
func (p *browsePages) readSpan(
	ctx context.Context,
	all *things.Streams,
	k things.ThreadKey,
	at conversationPart,
	limit int,
) (t *thread, cut time.Time,
	err error) {
	t = &thread{}
	forward := !at.since.IsZero()
	for _, s := range all.SpeakersOf(k) {
		page, err := p.Owner.Records(ctx, api.RecordQuery{
			ConnectionID: k.Connection, Stream: s.Name, ByTime: true, Oldest: forward, Since: at.since, Until: at.until,
			Thread: k.Thread, Fields: s.FieldNames(), Limit: limit,
		})
		if err != nil {
			return nil, cut, err
		}
		for _, r := range page.Records {
			t.listed = append(t.listed, s.Thing(r))
		}
		if n := len(page.Records); page.Next != "" && n > 0 {
			if last := *page.Records[n-1].At; cut.IsZero() || forward == last.Before(cut) {
				cut = last
			}
		}
		if s.Kind() == manifest.KindMessage {
			whole, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: k.Connection, Stream: s.Name, ByTime: true,
				Thread: k.Thread, Fields: []string{}, Limit: 1, Total: true})
			if err != nil {
				return nil, cut, err
			}
			t.total += *whole.Total
		}
	}
	inOrder(t.listed)
	return t, cut, nil
}

// inOrder sorts messages by time.
func inOrder(listed []things.Thing) {
	slices.SortStableFunc(listed, func(a, b things.Thing) int {
		return cmp.Or(a.At.Compare(*b.At), strings.Compare(a.Stream, b.Stream), strings.Compare(a.Key, b.Key))
	})
}

// turn is one entry of a displayed conversation: a separator, a message, or consecutive steps.
type turn struct {
	Seam     string
	Day      bool // the seam is the beginning of a day
	Steps    []message
	Message  *message
	Summary  string // of the steps
	Flat     bool   // set in a dialogue with a program
	Replaced bool   // another version took its place
}

// message is one record of a conversation.
type message struct {
	By       string
	Mine     bool
	At       time.Time
	Title    string
	Passages []prose.Passage
	Result   []prose.Passage
	Cut      bool
	Address  string
	Markup   string // of an answer of a program; it has no passages
}

// longestSaid is how much of one message a page shows, and longestStep how much of a step; the record has all of it.
const (
	longestSaid = 20_000
	longestStep = 2000
)

// turns puts the records of a page into words.
func (n *names) turns(k things.ThreadKey, listed []things.Thing, source string, now time.Time) (out []turn) {
	day := ""
	for i := range listed {
		t := &listed[i]
		at := t.At.In(now.Location())
		if d := at.Format(time.DateOnly); d != day {
			day = d
			out = append(out, turn{Seam: dayName(at, now), Day: true})
		}
		who, flat := things.VoiceOf(t), t.In.Role("speaker") != ""
		one := n.message(t, who, source, flat)
		last := &turn{}
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		replaced := t.Text("current") == "false"
		switch {
		case who == things.VoiceStep && len(last.Steps) > 0 && !last.Replaced, replaced && last.Replaced:
			last.Steps = append(last.Steps, one)
		case who == things.VoiceStep || replaced:
			out = append(out, turn{Steps: []message{one}, Flat: true, Replaced: replaced})
		default:
			out = append(out, turn{Message: &one, Flat: flat})
		}
	}
	for i := range out {
		out[i].Summary = summary(&out[i])
	}
	return out
}

func (n *names) message(t *things.Thing, who things.Voice, source string, flat bool) message {
	one := message{Mine: who == things.VoiceOwner, At: *t.At, Title: t.Line("title", things.LongestTitle),
		Address: t.Address()}
	switch {
	case one.Mine:
		one.By = "You"
	case flat && who == things.VoiceOther:
		one.By = source
	case flat:
		one.By = t.Line("speaker", things.LongestTitle)
	default:
		one.By = n.Of(t, "author")
	}
	most := longestSaid
	if who == things.VoiceStep {
		most = longestStep
	}
	var more bool
	if flat && who == things.VoiceOther {
		clean := prose.Markdown(t.Text("text"))
		one.Markup, one.Cut = clean.HTML, clean.Cut
	}
	if one.Markup == "" {
		one.Passages, one.Cut = prose.Passages(t.Text("text"), most)
	}
	one.Result, more = prose.Passages(t.Text("result"), longestStep)
	one.Cut = one.Cut || more
	return one
}

// summary returns one line that describes the steps of a turn.
func summary(t *turn) string {
	if len(t.Steps) == 0 {
		return ""
	}
	first, last := t.Steps[0].At, t.Steps[len(t.Steps)-1].At
	count := func(one, many string) string { return text.Count(int64(len(t.Steps)), one, many) }
	if t.Replaced {
		return count("message of another version", "messages of other versions")
	}
	var what []string
	for _, s := range t.Steps {
		if w := cmp.Or(s.Title, s.By); w != "" && !slices.Contains(what, w) {
			what = append(what, w)
		}
	}
	line := count("step", "steps")
	if len(what) > 0 {
		line += ": " + text.Cut(strings.Join(what, ", "), 80)
	}
	if took := int64(last.Sub(first) / time.Second); took >= 60 {
		line += ", " + words.ShortSpan(took)
	}
	return line
}

// dayName is a day in words.
func dayName(t, now time.Time) string {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	switch date(now).Sub(date(t)) {
	case 0:
		return "Today"
	case 24 * time.Hour:
		return "Yesterday"
	}
	if t.Year() != now.Year() {
		return t.Format("Monday 2 January 2006")
	}
	return t.Format("Monday 2 January")
}
