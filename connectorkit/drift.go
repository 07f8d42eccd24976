package connectorkit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/connectorkit/answers"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// driftText is the message of a report about answers.
const driftText = "answers were compared with what this version expects"

// driftWatch notices in one run that a provider answers differently than the connector expects. It
// holds counts and names of members, no content.
type driftWatch struct {
	compared *answers.Comparison    // nil for a connector without a sheet
	reading  atomic.Pointer[string] // the stream that is being collected

	mu        sync.Mutex
	totals    map[string]*protocol.AnnouncedTotal
	numbers   map[string]map[number]*protocol.AnswerDifference // by stream
	histories map[string]*history                              // of the streams that are read from nothing
}

// number is a member with a number of things.
type number struct{ route, member string }

// history is what is known of a stream that is read from nothing.
type history struct {
	oldest  string // the least semantic time
	records int
	ended   bool // it was read to its end
}

func newDriftWatch(c Connector) *driftWatch {
	d := &driftWatch{
		totals: map[string]*protocol.AnnouncedTotal{}, histories: map[string]*history{},
		numbers: map[string]map[number]*protocol.AnswerDifference{},
	}
	if c.Answers != "" {
		d.compared = answers.Compare(c.Answers)
	}
	if c.Learned != nil {
		d.compared = answers.Learning(c.Learned)
	}
	return d
}

// begin notes which stream is collected, and whether from nothing.
func (d *driftWatch) begin(r *run, w worker) {
	name := w.list()
	d.reading.Store(&name)
	begun := func(stream string) bool {
		return r.stored(stream, protocol.SteadyState).Kind() == '{' || r.stored(stream, protocol.CatchUp).Kind() == '{'
	}
	if _, feed := w.(*Feeding); feed && slices.ContainsFunc(w.streams(), begun) {
		return // one bookmark can be that of all its streams
	}
	for _, stream := range w.streams() {
		if !r.scope[stream].whole() || r.start.RecoveryOnly {
			continue
		}
		if !begun(stream) {
			d.histories[stream] = &history{}
		}
	}
}

// end notes that the streams of a worker were read to their end.
func (d *driftWatch) end(w worker) {
	for _, stream := range w.streams() {
		if h := d.histories[stream]; h != nil {
			h.ended = true
		}
	}
}

// met notes the time of a record that goes out.
func (d *driftWatch) met(stream string, at any) {
	h := d.histories[stream]
	if h == nil {
		return
	}
	if text, ok := at.(string); ok && text != "" {
		if h.records++; h.oldest == "" || text < h.oldest {
			h.oldest = strings.Clone(text)
		}
	}
}

// answered compares an answer of the provider.
func (d *driftWatch) answered(req *http.Request, resp *governhttp.Response) {
	to := *req.URL
	if req.Method == http.MethodPost && req.GetBody != nil && req.ContentLength < maxQuestion {
		to.RawQuery = asked(req, to.Query())
	}
	d.compared.Answer(*d.reading.Load(), req.Method, &to, resp.Header, resp.Body)
}

// maxQuestion bounds the body of a request that is read for what it asks for.
const maxQuestion = 4 << 10

// asked adds what the body of a request asks for to its query: how large a page is to be, and where it begins.
func asked(req *http.Request, query url.Values) string {
	body, err := req.GetBody()
	if err != nil {
		return req.URL.RawQuery
	}
	defer body.Close()
	var members map[string]any
	if json.UnmarshalRead(io.LimitReader(body, maxQuestion), &members) != nil {
		return req.URL.RawQuery
	}
	for name, value := range members {
		switch value.(type) {
		case string, float64:
			query.Set(name, fmt.Sprint(value))
		}
	}
	return query.Encode()
}

// expect compares how many items the provider announces with how many a complete walk listed. Of a
// stream of several lists, each is reported.
func (d *driftWatch) expect(stream string, list protocol.AnnouncedTotal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.totals[stream]
	if t == nil {
		t = &protocol.AnnouncedTotal{}
		d.totals[stream] = t
	}
	// A list that has more than it should does not make up for one that has less.
	t.Announced += list.Announced
	t.Counted += min(list.Announced, list.Counted)
}

// compareNumber notes a number that does not promise to be exact, and how many things were listed.
func (d *driftWatch) compareNumber(stream string, of number, announced, counted int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.numbers[stream] == nil {
		d.numbers[stream] = map[number]*protocol.AnswerDifference{}
	}
	one := d.numbers[stream][of]
	if one == nil {
		one = &protocol.AnswerDifference{Kind: protocol.OtherTotal, Route: of.route, Member: of.member}
		d.numbers[stream][of] = one
	}
	if one.Of++; announced > counted {
		one.Count++
	}
}

// tellDrift reports what was found out about each stream.
func (r *run) tellDrift(ctx context.Context) error {
	for _, s := range r.start.Scope.Streams {
		if r.scope[s.Name] == nil {
			continue
		}
		if m := r.drift.report(s.Name, r.budget.Began); m != nil {
			if err := r.out.send(ctx, &protocol.Progress{Stream: s.Name, Message: driftText, AnswerDrift: m,
				CollectionRate: r.rate()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// report is what was measured of a stream; nil when nothing was.
func (d *driftWatch) report(stream string, began time.Time) *protocol.AnswerDrift {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.histories[stream]
	var out *protocol.AnswerDrift
	if d.compared != nil {
		out = d.compared.Report(stream, h != nil && h.ended)
	}
	if out == nil {
		out = &protocol.AnswerDrift{}
	}
	for _, one := range d.numbers[stream] {
		if out.Answers = max(out.Answers, 1); one.Count > 0 && len(out.Differences) < protocol.MaxDifferences {
			out.Differences = append(out.Differences, *one)
		}
	}
	out.Total = d.totals[stream]
	if h != nil && h.ended && h.oldest != "" {
		out.Beginning = &protocol.HistoryBeginning{Days: h.bound(began)}
	}
	if out.Answers == 0 && out.Total == nil && out.Beginning == nil {
		return nil
	}
	return out
}

// fewRecords is how many records a history has that proves nothing by its beginning.
const fewRecords = 10

// bound returns the usual bound of histories that the oldest record meets exactly, in days. The
// record may be a little younger than the bound, because nothing need have happened just then.
func (h *history) bound(began time.Time) int64 {
	oldest, ok := timeOf(h.oldest)
	if !ok || h.records < fewRecords {
		return 0
	}
	age, before := began.Sub(oldest), time.Hour
	if len(h.oldest) == len(time.DateOnly) {
		before = 36 * time.Hour // a day is as old as its beginning, wherever that was
	}
	for _, days := range protocol.HistoryBounds {
		whole := time.Duration(days) * 24 * time.Hour
		after := min(max(whole/30, 6*time.Hour), 72*time.Hour)
		if age >= whole-after && age <= whole+before {
			return days
		}
	}
	return 0
}
