package browse

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/manifest"
)

// reached is how far the streams of a list of conversations were read, by their names in addresses:
// a cursor, or nothing when all was read. A stream that is not there is read from its beginning.
type reached map[string]string

// readReached reads it off an address; what is no such thing is left out.
func readReached(q url.Values) reached {
	out := reached{}
	for _, one := range q["after"] {
		if name, cursor, ok := strings.Cut(one, ":"); ok {
			out[name] = cursor
		}
	}
	return out
}

func conversationsAddress(source, kind string, to reached) string {
	q := url.Values{}
	if kind != "" {
		q.Set("kind", kind)
	}
	if source != "" {
		q.Set("source", source)
	}
	for name, cursor := range to {
		q.Add("after", name+":"+cursor)
	}
	slices.Sort(q["after"])
	if len(q) == 0 {
		return "/conversations"
	}
	return "/conversations?" + q.Encode()
}

// threads lists conversations of all sources, or of one, most recently changed first. The first
// page also lists the conversations with the newest messages.
func (p *browsePages) threads(
	ctx context.Context,
	all *things.Streams,
	q url.Values,
	open things.ThreadKey,
) (*conversationPage, error) {
	page := &conversationPage{Chosen: q.Get("source"), Kind: q.Get("kind")}
	kinds := map[string]int64{}
	var of []*things.Stream
	for i := range all.All {
		s := &all.All[i]
		if s.Kind() != manifest.KindConversation || s.Records == 0 {
			continue
		}
		page.Count += s.Records
		at := slices.IndexFunc(page.Sources, func(one shownConnection) bool { return one.ID == s.ConnectionID })
		if at < 0 {
			page.Sources = append(page.Sources,
				shownConnection{ID: s.ConnectionID, Name: s.ConnectionName, Address: conversationsAddress(s.ConnectionID, "", nil),
					Current: s.ConnectionID == page.Chosen})
			at = len(page.Sources) - 1
		}
		page.Sources[at].Count += s.Records
		if page.Chosen != "" && page.Chosen != s.ConnectionID {
			continue
		}
		kind := all.ConversationKind(s)
		if kinds[kind] += s.Records; page.Kind == "" || page.Kind == kind {
			of = append(of, s)
		}
	}
	page.kinds(kinds)
	page.Export = all.ExportThreads(of)
	from := readReached(q)
	listed, to, err := p.threadRecords(ctx, of, from, threadsShown)
	if err != nil {
		return nil, err
	}
	if to != nil {
		page.Next = conversationsAddress(page.Chosen, page.Kind, to)
	}
	if len(from) > 0 {
		page.First = conversationsAddress(page.Chosen, page.Kind, nil)
	}
	if err := p.threadRows(p.names(ctx, all), page, of, listed, len(from) == 0, open); err != nil {
		return nil, err
	}
	slices.SortStableFunc(page.Threads, func(a, b threadRow) int { return b.At.Compare(a.At) })
	if page.Kind == things.AboutCode {
		page.byProject()
	}
	return page, nil
}

// byProject puts the conversations of a project together, the project with the newest one first.
func (page *conversationPage) byProject() {
	order := map[string]int{}
	for i := range page.Threads {
		if _, known := order[page.Threads[i].Project]; !known {
			order[page.Threads[i].Project] = len(order)
		}
	}
	slices.SortStableFunc(page.Threads, func(a, b threadRow) int {
		return cmp.Compare(order[a.Project], order[b.Project])
	})
	for i := range page.Threads {
		if one := &page.Threads[i]; i == 0 || page.Threads[i-1].Project != one.Project {
			one.Group = cmp.Or(one.Project, "Without a project")
		}
	}
}

// kinds lists the kinds that there are, if there are several.
func (page *conversationPage) kinds(counts map[string]int64) {
	if len(counts) < 2 && page.Kind == "" {
		return
	}
	var sum int64
	for _, n := range counts {
		sum += n
	}
	page.Kinds = append(page.Kinds, facet{Label: "All", Count: sum, Current: page.Kind == "",
		Address: conversationsAddress(page.Chosen, "", nil)})
	for _, k := range []struct{ kind, label string }{{things.WithPeople, "People"}, {things.WithAssistants, "Assistants"},
		{things.AboutCode, "Code"}} {
		if counts[k.kind] > 0 {
			page.Kinds = append(page.Kinds, facet{Label: k.label, Count: counts[k.kind], Current: page.Kind == k.kind,
				Address: conversationsAddress(page.Chosen, k.kind, nil)})
		}
	}
}

// threadRecords reads n of the records of conversations over all streams, those that changed
// last first, and how far each stream was read; nil when nothing is left.
func (p *browsePages) threadRecords(ctx context.Context, of []*things.Stream, from reached,
	n int) (listed []things.Thing, to reached,
	err error) {
	read := map[*things.Stream]api.RecordPage{}
	for _, s := range of {
		cursor, begun := from[s.Path()]
		if begun && cursor == "" {
			continue
		}
		found, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, Cursor: cursor,
			Limit: n})
		if err != nil {
			return nil, nil, err
		}
		read[s] = found
		for _, r := range found.Records {
			listed = append(listed, s.Thing(r))
		}
	}
	slices.SortStableFunc(listed, func(a, b things.Thing) int { return b.ChangedAt.Compare(a.ChangedAt) })
	listed = listed[:min(len(listed), n)]
	to = reached{}
	left := false
	for _, s := range of {
		name, found := s.Path(), read[s]
		taken := 0
		for i := range listed {
			if listed[i].In == s {
				taken++
			}
		}
		switch cursor, begun := from[name]; {
		case taken == len(found.Records):
			to[name] = found.Next // all of the page, and nothing of a stream that was read before
		case taken == 0:
			if left = true; begun {
				to[name] = cursor
			}
			continue
		default: // a cursor exists only at the end of a page
			part, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, Cursor: cursor,
				Limit: taken})
			if err != nil {
				return nil, nil, err
			}
			to[name] = part.Next
		}
		left = left || to[name] != ""
	}
	if !left {
		return listed, nil, nil
	}
	return listed, to, nil
}

// lastRead is how many of a source's newest messages are searched for the last message of each
// conversation.
const lastRead = 200

// threadRows adds conversations to the list. The first page also gets the conversations with the
// newest messages, and other pages leave those out.
func (p *browsePages) threadRows(n *names, page *conversationPage, of []*things.Stream, listed []things.Thing,
	first bool,
	open things.ThreadKey) error {
	for _, s := range of {
		last, others, order, err := p.spokenLast(n, s)
		if err != nil {
			return err
		}
		order = order[:min(len(order), threadsShown)]
		shown := map[string]bool{}
		for i := range listed {
			t := &listed[i]
			if t.In != s || !first && slices.Contains(order, t.Key) {
				continue
			}
			shown[t.Key] = true
			page.Threads = append(page.Threads, n.row(*t, last[t.Key], others[t.Key], open))
		}
		for _, key := range order {
			if !first || shown[key] || key == "" {
				continue
			}
			own := s.Thing(api.Record{ConnectionID: s.ConnectionID, Stream: s.Name, Key: key})
			row := n.row(own, last[key], others[key], open)
			row.Title = cmp.Or(n.Title(s.ConnectionID, s.Name, key), row.Title)
			page.Threads = append(page.Threads, row)
		}
	}
	return nil
}

// spokenLast returns the last message of each conversation of a stream, who else wrote lately, and the conversation
// keys, newest first.
func (p *browsePages) spokenLast(n *names, s *things.Stream) (last map[string]*things.Thing,
	others map[string][]things.Thing, order []string, err error) {
	last, others = map[string]*things.Thing{}, map[string][]things.Thing{}
	for _, by := range n.all.SpeakersOf(things.ThreadKey{Connection: s.ConnectionID, Stream: s.Name}) {
		if by.Kind() != manifest.KindMessage {
			continue
		}
		found, err := p.Owner.Records(n.ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: by.Name, ByTime: true,
			Fields: by.FieldNames(), Limit: lastRead})
		if err != nil {
			return nil, nil, nil, err
		}
		for _, r := range found.Records {
			t := by.Thing(r)
			key, who := t.Text("thread"), things.VoiceOf(&t)
			if last[key] == nil && who != things.VoiceStep {
				last[key] = &t
				order = append(order, key)
			}
			if who == things.VoiceOther && by.Role("speaker") == "" {
				others[key] = append(others[key], t)
			}
		}
	}
	return last, others, order, nil
}

// row returns the list row of a conversation, with its last message if known. One without a name is named by those who
// wrote lately.
func (n *names) row(t things.Thing, last *things.Thing, others []things.Thing, open things.ThreadKey) threadRow {
	k := things.ThreadKey{Connection: t.ConnectionID, Stream: t.Stream, Thread: t.Key}
	row := threadRow{Title: t.Title(), Source: t.In.ConnectionName, Address: k.Address(), Current: k == open, key: k,
		Class: "k-talk"}
	if row.Project = projectName(t.Line("project", things.LongestTitle)); row.Project != "" {
		row.Class = "k-code"
	}
	if row.Title == "" {
		row.Title = n.participants(others)
	}
	for _, role := range []string{"end", "time"} {
		if at, ok := api.ParseMoment(t.Text(role)); ok && (role == "end" || last == nil) {
			row.At = at
			break
		}
	}
	if last == nil {
		row.Title = cmp.Or(row.Title, "Unnamed")
		return row
	}
	by := ""
	if things.VoiceOf(last) == things.VoiceOther && last.In.Role("speaker") == "" {
		by = n.Of(last, "author")
	}
	if row.Title == "" {
		row.Title, by = cmp.Or(by, "Unnamed"), ""
	}
	row.Note = last.Line("text", things.LongestNote)
	if by != "" && by != row.Title {
		row.Note = by + ": " + row.Note
	}
	if row.At.Before(*last.At) {
		row.At = *last.At
	}
	return row
}

// projectName is how people call a project that is a folder or an address: by its last part.
func projectName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
