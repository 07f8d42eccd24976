package browse

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

// parts is what other streams hold of a record: its text, and its files.
type parts struct {
	text  *thing
	files []thing
}

// line is how the text begins.
func (p parts) line(most int) string {
	if p.text == nil {
		return ""
	}
	return p.text.line("text", most)
}

// thingID names a record.
type thingID struct{ connection, stream, key string }

func (t *thing) id() thingID { return thingID{t.ConnectionID, t.Stream, t.Key} }

// mostParts bounds how many parts are read of one stream for a page.
const mostParts = 500

// partStreams returns the streams with records that are parts of the stream's records.
func (all *streams) partStreams(of *stream) (out []*stream) {
	for i := range all.all {
		s := &all.all[i]
		if s.ConnectionID == of.ConnectionID && s.Display.Related["part_of"] == of.Name && s.Records > 0 {
			out = append(out, s)
		}
	}
	return out
}

// put adds a record to what it is a part of.
func (p *parts) put(t thing) {
	switch {
	case t.in.kind() == manifest.KindFile:
		p.files = append(p.files, t)
	case t.in.role("text") != "":
		p.text = &t
	}
}

// partsOf reads the parts of records that are on a page. Parts have the time of what they are of,
// by which they are found.
func (p *browsePages) partsOf(ctx context.Context, all *streams, things []thing) (map[thingID]parts, error) {
	out := map[thingID]parts{}
	spans := map[*stream]conversationPart{}
	for i := range things {
		t := &things[i]
		if t.At == nil {
			continue
		}
		s, known := spans[t.in]
		if !known || t.At.Before(s.since) {
			s.since = *t.At
		}
		if !known || !t.At.Before(s.until) {
			s.until = t.At.Add(time.Microsecond)
		}
		spans[t.in] = s
	}
	for of, at := range spans {
		for _, s := range all.partStreams(of) {
			if s.role("time") == "" {
				continue
			}
			found, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true,
				Since: at.since, Until: at.until, Fields: s.fields(), Limit: mostParts})
			if err != nil {
				return nil, err
			}
			for _, r := range found.Records {
				t := s.thing(r)
				id := thingID{of.ConnectionID, of.Name, t.text("part_of")}
				whole := out[id]
				whole.put(t)
				out[id] = whole
			}
		}
	}
	return out, nil
}

// partsOfOne reads the parts of one record, those too that have its key and no time.
func (p *browsePages) partsOfOne(ctx context.Context, all *streams, t *thing) (parts, error) {
	found, err := p.partsOf(ctx, all, []thing{*t})
	whole := found[t.id()]
	if err != nil || whole.text != nil {
		return whole, err
	}
	for _, s := range all.partStreams(t.in) {
		if s.role("text") == "" || s.kind() == manifest.KindFile {
			continue
		}
		record, _, err := p.Owner.Record(ctx, s.ConnectionID, s.Name, t.Key)
		var known *api.Error
		switch {
		case err == nil:
			if part := s.thing(record); part.text("part_of") == t.Key {
				whole.put(part)
			}
		case !errors.As(err, &known) || known.Status != http.StatusNotFound:
			return whole, err
		}
	}
	return whole, nil
}
