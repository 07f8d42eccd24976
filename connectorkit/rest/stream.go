package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/manifest"
)

// Stream declares how one stream is requested and read. The manifest declares its schema and its key.
type Stream struct {
	Name string
	Request
	// Items is the path of the list in an answer, such as data.items. A * means every element of a list: the lists
	// below them are read as one. Empty means that the answer is the list.
	Items string
	// Pages finds the pages of a list. Nil means that one answer has all.
	Pages Pager
	// Partitions are requested one by one. Nil means that there is one.
	Partitions Partitions
	// Fields lists where the members of a record come from, if the item has them under another name or in another form.
	Fields Fields
	// OmitEmpty makes every field NonEmpty.
	OmitEmpty bool
	// Deleted finds the items that are reports of a deletion.
	Deleted Match
	// SkipNull leaves null items out: the provider shows a place in the list, and nothing of the item.
	SkipNull bool
	// Total is the path of the provider's own number of items. Empty means unknown.
	Total string
	// Optional reports which errors do not fail the stream: it is then declared as missing, and nothing of it is
	// deleted. Use IfUnserved or IfForbidden. Nil means none.
	Optional func(error) bool
	// Pool is the name of the pool that paces the requests. Empty means the source's own pace.
	Pool string
	// Reused keeps the answers of a run, for other streams that make the same requests.
	Reused bool
	// Shared keeps the items for streams that are partitioned by them, so that a run lists them once. The Sync must read
	// the whole list.
	Shared bool
	// Sync decides what a run requests and what its bookmark holds. Nil means FullList.
	Sync Sync

	// Inspect sees every response of the stream before the source does. It may decide what the response means: an error,
	// or nil for a good one. What it leaves undecided is left to the rules of the source.
	Inspect func(r *Run, resp *governhttp.Response) (decided bool, err error)
	// Prepare changes a request before it is sent.
	Prepare func(ctx context.Context, r *Run, ask Ask, q *governhttp.Request) error
	// Select returns the items of an answer, instead of Items.
	Select func(a *Answer) ([]jsontext.Value, error)
	// Read makes a record of an item, instead of Fields. It must be safe for concurrent use in a ListDetail with AtOnce.
	Read ItemReader
	// Admit reports whether an item belongs to the stream. Nil admits all.
	Admit func(item Item) bool
	// Collect returns the collector of a stream that no Sync describes. It can use the rest of the declaration through
	// Run.ReadPage and Run.ReadItem.
	Collect func(r *Run) connectorkit.Collector
}

// Sync is a way to keep a stream up to date: FullList, SingleObject, DateWindows, EachPartition, ChangeFeed,
// ChangeTokens, GrowingIDs or ListDetail.
type Sync interface {
	collector(r *Run, s *Stream) (connectorkit.Collector, error)
}

// Match is a condition on an item: a member with one of the values. An empty path never matches.
type Match struct {
	Path   string
	Values []string // JSON values; none means true
}

// Item is one element of a list.
type Item struct {
	Raw       jsontext.Value
	Partition Partition
	Run       *Run
}

// Row is what an item becomes.
type Row struct {
	// Key is the record's key. Without a key, the record declares an item that cannot be read.
	Key    string
	Record connectorkit.Record
	// Deleted means that the provider reports the item as deleted.
	Deleted bool
	// Time is the item's own time, for streams that are read by time, in the form of the record.
	Time string
	// Part and Void are those of a ChangeItem.
	Part string
	Void bool

	encoded jsontext.Value // the record, if the plan has made it
}

// ItemReader makes a record of an item.
type ItemReader func(item Item) Row

// Unreadable returns the row of an item that cannot be read. Its id helps the owner to find it, if it is readable.
func Unreadable(item Item, idPath string, err error) Row {
	id, _ := rawjson.TextOf(rawjson.MemberAt(item.Raw, rawjson.SplitPath(idPath)))
	return Row{Record: connectorkit.Unreadable(id, err)}
}

// FirstList is a Select for a list that is at the first of several paths which an answer has.
func FirstList(paths ...string) func(a *Answer) ([]jsontext.Value, error) {
	return func(a *Answer) ([]jsontext.Value, error) {
		for _, path := range paths {
			if items, ok := rawjson.ListAt(a.Body, rawjson.SplitPath(path)); ok {
				return items, nil
			}
		}
		return nil, malformed(errNoList)
	}
}

// listedPage is one page of a stream.
type listedPage struct {
	answer *Answer
	items  []jsontext.Value
	next   string
	total  int
}

// StreamPage is one page of a stream, for hooks.
type StreamPage struct {
	Items []jsontext.Value
	Next  string // token of the next page; empty on the last
	Total int    // as announced; zero if unknown
	// Answer is the answer itself. If it is unchanged, there are no items.
	Answer *Answer
}

// ReadPage requests a page of a stream as its declaration has it.
func (r *Run) ReadPage(ctx context.Context, stream string, ask Ask) (StreamPage, error) {
	s, err := r.stream(stream)
	if err != nil {
		return StreamPage{}, err
	}
	got, err := r.page(ctx, s, ask, func(q *governhttp.Request) { setCondition(q, ask.Version) })
	if err != nil {
		return StreamPage{}, err
	}
	return StreamPage{Items: got.items, Next: got.next, Total: got.total, Answer: got.answer}, nil
}

// ReadItem makes a record of an item of a stream as its declaration has it.
func (r *Run) ReadItem(stream string, item Item) Row {
	s, err := r.stream(stream)
	if err != nil {
		return Row{Record: connectorkit.Unreadable("", err)}
	}
	return r.reader(s)(item)
}

// request builds the request for a page.
func (r *Run) request(ctx context.Context, s *Stream, ask Ask, set func(*governhttp.Request)) (governhttp.Request,
	error) {
	q, err := s.build(ask.Partition, r.settings)
	if err != nil {
		return q, malformed(err)
	}
	if set != nil {
		set(&q)
	}
	if s.Pages != nil {
		if err := s.Pages.SetPage(&q, ask.Page); err != nil {
			return q, err
		}
	}
	if s.Inspect != nil {
		q.Classify = func(resp *governhttp.Response) error {
			if decided, err := s.Inspect(r, resp); decided {
				return err
			}
			return r.source.Classify(resp)
		}
	}
	if s.Prepare != nil {
		err = s.Prepare(ctx, r, ask, &q)
	}
	return q, err
}

// page requests a page and selects its items. Set adds what the stream's Sync asks for.
func (r *Run) page(ctx context.Context, s *Stream, ask Ask, set func(*governhttp.Request)) (*listedPage, error) {
	q, err := r.request(ctx, s, ask, set)
	if err != nil {
		return nil, err
	}
	name := q.Path + "?" + q.Query.Encode()
	a, kept := r.answers[name]
	if !kept || !s.Reused {
		if a, err = r.fetchInOrder(ctx, s.Pool, q); err != nil || a.Unchanged {
			return &listedPage{answer: a}, err
		}
	}
	if s.Reused {
		r.answers[name] = a
	}
	return s.selectPage(a, ask)
}

func (s *Stream) selectPage(a *Answer, ask Ask) (*listedPage, error) {
	out := &listedPage{answer: a}
	var err error
	if out.items, err = s.itemsOf(a); err != nil {
		return nil, err
	}
	if s.Pages != nil {
		if out.next, err = s.Pages.NextPage(a, PageOutcome{Token: ask.Page, Items: out.items}); err != nil {
			return nil, err
		}
	}
	if s.Total != "" {
		out.total, _ = strconv.Atoi(a.Text(s.Total)) // an unknown total is zero
	}
	return out, nil
}

func (s *Stream) itemsOf(a *Answer) ([]jsontext.Value, error) {
	if s.Select != nil {
		return s.Select(a)
	}
	items, ok := rawjson.ListAt(a.Body, rawjson.SplitPath(s.Items))
	if !ok {
		return nil, malformed(errNoList)
	}
	return items, nil
}

// rows reads the items of a page. Passed is the number of items that belong to no record.
func (r *Run) rows(s *Stream, items []jsontext.Value, part Partition) (rows []Row, passed int) {
	read := r.reader(s)
	rows = make([]Row, 0, len(items))
	for _, raw := range items {
		item := Item{Raw: raw, Partition: part, Run: r}
		if s.SkipNull && raw.Kind() == 'n' || s.Admit != nil && !s.Admit(item) {
			passed++
			continue
		}
		rows = append(rows, read(item))
	}
	return rows, passed
}

// reader returns how items of a stream are read.
func (r *Run) reader(s *Stream) ItemReader {
	if s.Read != nil {
		return s.Read
	}
	return r.plans[s.Name].readItem
}

// record returns the record that a row means, for streams that report deletions.
func (row *Row) record() connectorkit.Record {
	if row.Deleted {
		return connectorkit.Delete(row.Key)
	}
	return row.Record
}

// collector returns the collector of a stream.
func (r *Run) collector(s *Stream) (connectorkit.Collector, error) {
	switch {
	case s.Collect != nil:
		return s.Collect(r), nil
	case s.Sync == nil:
		return FullList{}.collector(r, s)
	}
	return s.Sync.collector(r, s)
}

// declared returns the record that declares an optional stream as missing, and whether the error allows that.
func (s *Stream) declared(err error) (connectorkit.Record, bool) {
	return connectorkit.Unreadable(s.Name, nil), err != nil && s.Optional != nil && s.Optional(err)
}

// compileStreams compiles how each stream maps its items.
func compileStreams(m *manifest.Manifest, streams []Stream) (map[string]*recordPlan, error) {
	plans := map[string]*recordPlan{}
	var problems []error
	for i := range streams {
		for _, s := range streams[i].withDetail() {
			declared, ok := m.Stream(s.Name)
			if !ok {
				problems = append(problems, fmt.Errorf("stream %q is not in the manifest", s.Name))
				continue
			}
			if s.Read != nil || s.Collect != nil && s.Fields == nil {
				continue
			}
			plan, err := compilePlan(declared, s)
			if err != nil {
				problems = append(problems, fmt.Errorf("stream %s: %w", s.Name, err))
			}
			plans[s.Name] = plan
		}
	}
	return plans, errors.Join(problems...)
}

func (s *Stream) withDetail() []*Stream {
	if l, ok := s.Sync.(ListDetail); ok {
		return []*Stream{s, &l.Detail}
	}
	return []*Stream{s}
}

// Text returns the text of a string or number of the item at a path. It is empty for anything else.
func (i Item) Text(path string) string {
	text, _ := rawjson.TextOf(rawjson.MemberAt(i.Raw, rawjson.SplitPath(path)))
	return text
}

// Member returns the value of the item at a path. It returns nil if there is none.
func (i Item) Member(path string) jsontext.Value {
	return rawjson.MemberAt(i.Raw, rawjson.SplitPath(path))
}

// Is reports whether the item matches a condition.
func (i Item) Is(m Match) bool {
	v := rawjson.MemberAt(i.Raw, rawjson.SplitPath(m.Path))
	return m.Path != "" && (len(m.Values) == 0 && string(v) == "true" || slices.Contains(m.Values, string(v)))
}
