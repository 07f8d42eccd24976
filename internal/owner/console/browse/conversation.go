package browse

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// conversationPage is the list of conversations, and perhaps one of them beside it.
type conversationPage struct {
	Sources []shownConnection // that have conversations
	Chosen  string            // the source to list conversations of; empty means all
	Kinds   []facet           // with people, with assistants, about code
	Kind    string            // one of them; empty means all
	Asked   bool              // whether the address names the open conversation
	Threads []threadRow
	Count   int64 // of all conversations
	Next    string
	First   string // the first page; empty on it
	Open    *openThread
	Export  records.ExportList
}

// shownConnection is a connection that has something to show.
type shownConnection struct {
	ID, Name, Address string
	Current           bool
	Count             int64
}

// threadRow is a conversation in the list.
type threadRow struct {
	Title, Note, Source string
	Project             string // that it is about
	Group               string // the project that begins with it, in a list by project
	Class               string // of the kind
	Address             string
	At                  time.Time
	Current             bool
	key                 things.ThreadKey
}

// openThread is one conversation.
type openThread struct {
	Title, Source string
	Chat          bool // between people
	Turns         []turn
	Total         int64
	Earlier       string
	Later         string
	Missing       *ui.Message
	Record        string // address of the conversation's own record; empty when it has none
	Shown         int
	Address       string
	Sought        string // what was searched for in it
	Matches       string // how much was found
	Export        records.ExportList
	From          bool // the page begins where the address points; otherwise its end is what counts
}

// threadsShown is how many conversations a list has at once.
const threadsShown = 40

func (p *browsePages) conversations(w http.ResponseWriter, r *http.Request) {
	all, err := p.streams(r.Context())
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page, err := p.threads(r.Context(), all, r.URL.Query(), things.ThreadKey{})
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	if len(page.Threads) > 0 { // the newest is open beside the list
		newest := &page.Threads[0]
		if page.Open, err = p.openThread(r.Context(), all, newest.key, conversationPart{}); err == nil {
			newest.Current = true
			page.Open.Title = cmp.Or(newest.Title, page.Open.Title)
		} else if known := new(api.Error); !errors.As(err, &known) || known.Status != http.StatusNotFound {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
	}
	p.show(w, r, "Conversations", conversationBody(page, p.Now()))
}

// threadKey reads which conversation an address names.
func threadKey(r *http.Request) (k things.ThreadKey, err error) {
	for name, into := range map[string]*string{"connection": &k.Connection, "stream": &k.Stream, "thread": &k.Thread} {
		if *into, err = ui.Unsegment(r.PathValue(name)); err != nil {
			return k, noThread()
		}
	}
	return k, nil
}

func (p *browsePages) conversation(w http.ResponseWriter, r *http.Request) {
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
	open, err := p.openThread(ctx, all, k, readSpan(r))
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	if open.Sought = strings.TrimSpace(r.URL.Query().Get("q")); open.Sought != "" {
		if err := p.seekWithin(ctx, all, k, open); err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
	}
	page, err := p.threads(ctx, all, url.Values{"source": r.URL.Query()["source"], "kind": r.URL.Query()["kind"]}, k)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page.Open, page.Asked = open, true
	p.show(w, r, open.Title, conversationBody(page, p.Now()))
}

func noThread() error {
	return api.NotFound("There is no such conversation.", "Choose one from the list under Conversations.")
}

// readSpan reads which part of a conversation the address names; nonsense means its end.
func readSpan(r *http.Request) (s conversationPart) {
	q := r.URL.Query()
	s.since, _ = api.ParseMoment(q.Get("since"))
	if s.since.IsZero() {
		s.until, _ = api.ParseMoment(q.Get("until"))
	}
	if in := q.Get("in"); in != "" {
		s.within = things.ReadPlace(cmp.Or(q.Get("since"), q.Get("until")), in, q.Get("past"))
	}
	return s
}

func (p *browsePages) openThread(
	ctx context.Context,
	all *things.Streams,
	k things.ThreadKey,
	at conversationPart,
) (*openThread, error) {
	speakers := all.SpeakersOf(k)
	if len(speakers) == 0 {
		return nil, noThread()
	}
	t, err := p.readThread(ctx, all, k, at)
	if err != nil {
		return nil, err
	}
	names := p.names(ctx, all)
	o := &openThread{Source: speakers[0].ConnectionName, Total: t.total, Earlier: t.earlier, Later: t.later,
		Shown: len(t.listed), Address: k.Address(), From: !at.since.IsZero()}
	o.Export = things.Export(speakers, api.ExportQuery{ByTime: true, Thread: k.Thread})
	o.Turns = names.turns(k, t.listed, o.Source, p.Now())
	o.Chat = slices.ContainsFunc(speakers, func(s *things.Stream) bool {
		return s.Kind() == manifest.KindMessage &&
			s.Role("speaker") == ""
	})
	if s := all.Find(k.Connection, k.Stream); s != nil && s.Kind() == manifest.KindConversation {
		record, _, err := p.Owner.Record(ctx, k.Connection, k.Stream, k.Thread)
		var known *api.Error
		switch {
		case err == nil:
			own := s.Thing(record)
			o.Title, o.Record = own.Title(), own.Address()
		case !errors.As(err, &known) || known.Status != http.StatusNotFound:
			return nil, err
		case len(t.listed) == 0:
			return nil, noThread()
		}
	} else if len(t.listed) == 0 && at == (conversationPart{}) {
		return nil, noThread()
	}
	if o.Title == "" {
		o.Title = names.participants(t.listed)
	}
	if o.Title == "" {
		o.Title = text.Cut(text.Line(k.Thread), things.LongestTitle)
	}
	o.Missing, err = p.missingOf(ctx, k, speakers)
	return o, err
}

// participants are those who speak, as the name of a conversation that has none.
func (n *names) participants(listed []things.Thing) string {
	var all []string
	for i := range listed {
		t := &listed[i]
		if things.VoiceOf(t) != things.VoiceOther || t.In.Role("speaker") != "" {
			continue
		}
		if by := n.Of(t, "author"); by != "" && !slices.Contains(all, by) {
			if all = append(all, by); len(all) > 4 {
				break
			}
		}
	}
	if len(all) > 4 {
		return strings.Join(all[:4], ", ") + " and others"
	}
	return text.List(all)
}

// gapsRead bounds how many gaps are looked through for those of one conversation.
const gapsRead = 200

// missingOf returns a message about known gaps in a conversation.
func (p *browsePages) missingOf(ctx context.Context, k things.ThreadKey, speakers []*things.Stream) (*ui.Message,
	error) {
	for _, s := range speakers {
		found, err := p.Owner.Gaps(ctx, api.GapQuery{ConnectionID: k.Connection, Stream: s.Name, Limit: gapsRead})
		if err != nil {
			return nil, err
		}
		for _, g := range found.Gaps {
			if g.RecordKey != k.Thread {
				continue
			}
			m := &ui.Message{Kind: "warn", Text: "Part of this conversation is not here yet.", Next: text.Sentence(g.Text),
				Link: "/sources/" + ui.Segment(k.Connection) + "/missing/" + ui.Segment(g.ID), LinkText: "What is missing"}
			return m, nil
		}
	}
	return nil, nil
}
