// Package driftwatch detects in one run that a provider answers differently than the connector expects.
package driftwatch

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// DriftWatch detects in one run that a provider's responses differ from what the connector expects. It stores
// counts and names of members, no content.
type DriftWatch struct {
	Answers *answers.Comparison    // nil for a connector without a sheet
	reading atomic.Pointer[string] // the stream that is being collected

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

// NewDriftWatch returns a watch that compares answers with a sheet, or adds them to learned. Both may be empty.
func NewDriftWatch(sheet string, learned *answers.Sheet) *DriftWatch {
	d := &DriftWatch{
		totals: map[string]*protocol.AnnouncedTotal{}, histories: map[string]*streamHistory{},
		numbers: map[string]map[countMember]*protocol.AnswerDifference{},
	}
	if sheet != "" {
		d.Answers = answers.Compare(sheet)
	}
	if learned != nil {
		d.Answers = answers.NewLearning(learned)
	}
	return d
}

// SetStream records which stream is collected. Answers count for it from then on.
func (d *DriftWatch) SetStream(stream string) { d.reading.Store(&stream) }

// BeginHistory records that a stream is read from the beginning.
func (d *DriftWatch) BeginHistory(stream string) { d.histories[stream] = &streamHistory{} }

// EndHistory records that a stream was read to its end.
func (d *DriftWatch) EndHistory(stream string) {
	if h := d.histories[stream]; h != nil {
		h.ended = true
	}
}

// ObserveRecord records the time of an emitted record.
func (d *DriftWatch) ObserveRecord(stream string, at any) {
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

// CompareAnswer compares a response of the provider.
func (d *DriftWatch) CompareAnswer(req *http.Request, resp *governhttp.Response) {
	to := *req.URL
	if req.Method == http.MethodPost && req.GetBody != nil && req.ContentLength < maxRequestBody {
		to.RawQuery = requestQuery(req, to.Query())
	}
	d.Answers.Answer(*d.reading.Load(), req.Method, &to, resp.Header, resp.Body)
}

// maxRequestBody bounds the body of a request that is read for what it asks for.
const maxRequestBody = 4 << 10

// requestQuery adds what the body of a request asks for to its query: how large a page is to be, and where it begins.
func requestQuery(req *http.Request, query url.Values) string {
	body, err := req.GetBody()
	if err != nil {
		return req.URL.RawQuery
	}
	defer body.Close()
	var members map[string]any
	if json.UnmarshalRead(io.LimitReader(body, maxRequestBody), &members) != nil {
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

// CompareNames compares an answer of another protocol than HTTP by the names of its parts.
func (d *DriftWatch) CompareNames(protocol, command string, names []string) {
	if d.Answers != nil {
		d.Answers.Names(*d.reading.Load(), protocol, command, names)
	}
}

// CompareTotals compares how many items the provider announces with how many a complete walk listed. Of a
// stream of several lists, each is reported.
func (d *DriftWatch) CompareTotals(stream string, list protocol.AnnouncedTotal) {
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

// CompareNumber compares an approximate count with the number of listed items.
func (d *DriftWatch) CompareNumber(stream, route, member string, announced, counted int64) {
	of := countMember{route, member}
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

// StreamReport returns the measurements of a stream, or nil if there are none.
func (d *DriftWatch) StreamReport(stream string, began time.Time) *protocol.AnswerDrift {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.histories[stream]
	var out *protocol.AnswerDrift
	if d.Answers != nil {
		out = d.Answers.Report(stream, h != nil && h.ended)
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
		out.Beginning = &protocol.HistoryBeginning{Days: h.historyBound(began)}
	}
	if out.Answers == 0 && out.Total == nil && out.Beginning == nil {
		return nil
	}
	return out
}

// minHistoryRecords is the size of a history that is too small to draw conclusions from its beginning.
const minHistoryRecords = 10

// historyBound returns the common history limit, in days, that the oldest record matches exactly. The record may be
// slightly younger than the limit.
func (h *streamHistory) historyBound(began time.Time) int64 {
	oldest, ok := recordcheck.ParseTimeBound(h.oldest)
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
