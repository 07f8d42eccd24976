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

	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// driftText is the message of a report about responses.
const driftText = "answers were compared with what this version expects"

// driftWatch detects in one run that a provider's responses differ from what the connector expects. It stores
// counts and names of members, no content.
type driftWatch struct {
	compared *answers.Comparison    // nil for a connector without a sheet
	reading  atomic.Pointer[string] // the stream that is being collected

	mu        sync.Mutex
	totals    map[string]*protocol.AnnouncedTotal
	numbers   map[string]map[countMember]*protocol.AnswerDifference // by stream
	histories map[string]*streamHistory                             // of the streams that are read from the beginning
}

// countMember is a member with a count.
type countMember struct{ route, member string }

// streamHistory describes a stream that is read from the beginning.
type streamHistory struct {
	oldest  string // the earliest semantic time
	records int
	ended   bool // it was read to its end
}

func newDriftWatch(c Connector) *driftWatch {
	d := &driftWatch{
		totals: map[string]*protocol.AnnouncedTotal{}, histories: map[string]*streamHistory{},
		numbers: map[string]map[countMember]*protocol.AnswerDifference{},
	}
	if c.Answers != "" {
		d.compared = answers.Compare(c.Answers)
	}
	if c.Learned != nil {
		d.compared = answers.Learning(c.Learned)
	}
	return d
}

// begin records which stream is collected, and whether from the beginning.
func (d *driftWatch) begin(r *runState, w collectorRun) {
	name := w.list()
	d.reading.Store(&name)
	begun := func(stream string) bool {
		return r.stored(stream, protocol.SteadyState).Kind() == '{' || r.stored(stream, protocol.CatchUp).Kind() == '{'
	}
	if _, feed := w.(*Push); feed && slices.ContainsFunc(w.streams(), begun) {
		return // one bookmark may cover all its streams
	}
	for _, stream := range w.streams() {
		if !r.scope[stream].whole() || r.start.RecoveryOnly {
			continue
		}
		if !begun(stream) {
			d.histories[stream] = &streamHistory{}
		}
	}
}

// end records that the streams of a worker were read to their end.
func (d *driftWatch) end(w collectorRun) {
	for _, stream := range w.streams() {
		if h := d.histories[stream]; h != nil {
			h.ended = true
		}
	}
}

// met records the time of an emitted record.
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

// answered compares a response of the provider.
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
	// A list with too many items does not compensate for one with too few.
	t.Announced += list.Announced
	t.Counted += min(list.Announced, list.Counted)
}

// compareNumber compares an approximate count with the number of listed items.
func (d *driftWatch) compareNumber(stream string, of countMember, announced, counted int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.numbers[stream] == nil {
		d.numbers[stream] = map[countMember]*protocol.AnswerDifference{}
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

// reportDrift reports the differences of each stream.
func (r *runState) reportDrift(ctx context.Context) error {
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

// report returns the measurements of a stream, or nil if there are none.
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

// minHistoryRecords is the size of a history that is too small to draw conclusions from its beginning.
const minHistoryRecords = 10

// bound returns the common history limit, in days, that the oldest record matches exactly. The record may be
// slightly younger than the limit.
func (h *streamHistory) bound(began time.Time) int64 {
	oldest, ok := parseBound(h.oldest)
	if !ok || h.records < minHistoryRecords {
		return 0
	}
	age, before := began.Sub(oldest), time.Hour
	if len(h.oldest) == len(time.DateOnly) {
		before = 36 * time.Hour // a date begins at different times in different zones
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
