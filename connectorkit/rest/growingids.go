package rest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
)

// GrowingIDs reads objects one by one, by the numbers that the answer to Source.Account lists. A newer object has a
// larger number. {id} in the stream's request is the number, and Items is the path of the object in an answer. A run
// reads the new objects and, because they change, those of the last days again. The bookmark is a number.
//
// The time of an object is the stream's consent time field, in RFC 3339. A null is declared as missing, and is as old
// as the object before it.
type GrowingIDs struct {
	List string // path of the numbers
	Days int    // how many days every run reads again
}

// idsInSlice is how many objects are read before their records and the bookmark are stored. The time of a run is
// checked between slices.
const idsInSlice = 5

func (g GrowingIDs) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	return connectorkit.PagedStream{Stream: s.Name, Page: (&idWalk{GrowingIDs: g, r: r, s: s}).fetchPage}, nil
}

// idWalk reads the objects of one run, the oldest first.
type idWalk struct {
	GrowingIDs
	r *Run
	s *Stream

	account string
	left    []int64
	settled int64     // the largest number that later runs pass over
	moving  bool      // an object behind settled may change
	at      time.Time // time of the last object
}

func (w *idWalk) fetchPage(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	if w.left == nil {
		if err := w.begin(ctx, at); err != nil {
			return out, err
		}
	}
	walk := *w // a failed page is read again from its beginning
	for range min(idsInSlice, len(walk.left)) {
		record, err := walk.readObject(ctx, walk.left[0])
		if err != nil {
			return connectorkit.Page{}, err
		}
		out.Records = append(out.Records, record)
		walk.moving = walk.moving || walk.r.Now().Sub(walk.at) < time.Duration(walk.Days)*oneDay
		if !walk.moving {
			walk.settled = walk.left[0]
		}
		walk.left = walk.left[1:]
	}
	*w = walk
	out.Next = connectorkit.Cursor{"after": strconv.FormatInt(w.settled, 10), "account": w.account}
	if out.More = len(w.left) > 0; out.More {
		out.Next["next"] = strconv.FormatInt(w.left[0], 10)
	}
	return out, nil
}

// begin lists the numbers to read. An unfinished walk continues; the bookmark of another account is not used.
func (w *idWalk) begin(ctx context.Context, at connectorkit.Cursor) (err error) {
	if w.account, err = w.r.Account(ctx); err != nil {
		return err
	}
	first := int64(0)
	if at["account"] == w.account {
		w.settled = numberOf(at["after"])
		first = numberOf(at["next"])
	}
	w.left = []int64{}
	// An account without objects has no list.
	numbers, _ := rawjson.ListAt(w.r.person, rawjson.SplitPath(w.List))
	for _, raw := range numbers {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return malformed(errNoList)
		}
		if n > w.settled && n >= first {
			w.left = append(w.left, n)
		}
		w.moving = w.moving || n > w.settled && n < first
	}
	slices.Sort(w.left)
	w.left = slices.Compact(w.left)
	return nil
}

// readObject reads the object with a number.
func (w *idWalk) readObject(ctx context.Context, number int64) (connectorkit.Record, error) {
	id := strconv.FormatInt(number, 10)
	part := Partition{ID: id, Values: map[string]string{"id": id}}
	q, err := w.r.request(ctx, w.s, Ask{Partition: part}, nil)
	if err != nil {
		return connectorkit.Record{}, err
	}
	a, err := w.r.fetchInOrder(ctx, w.s.Pool, q)
	if err != nil {
		return connectorkit.Record{}, err
	}
	var rows []Row
	if raw := rawjson.MemberAt(a.Body, rawjson.SplitPath(w.s.Items)); raw.Kind() != 'n' {
		rows, _ = w.r.rows(w.s, []jsontext.Value{raw}, part)
	}
	if len(rows) == 0 { // null, or rejected by Admit
		return connectorkit.Unreadable(w.s.Name+" "+id, nil), nil
	}
	row := rows[0]
	if row.Key != "" && row.Key != id {
		return connectorkit.Record{}, malformed(errNoList) // the answer is another object
	}
	if at, err := time.Parse(time.RFC3339, row.Time); err == nil {
		w.at = at
	}
	return row.record(), nil
}
