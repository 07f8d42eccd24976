package browse

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/manifest"
)

// parts is what other streams hold of a record: its text, and its files.
type parts struct {
	text  *things.Thing
	files []things.Thing
}

// line is how the text begins.
func (p parts) Line(most int) string {
	if p.text == nil {
		return ""
	}
	return p.text.Line("text", most)
}

// mostParts bounds how many parts are read of one stream for a page.
const mostParts = 500

// put adds a record to what it is a part of.
func (p *parts) put(t things.Thing) {
	switch {
	case t.In.Kind() == manifest.KindFile:
		p.files = append(p.files, t)
	case t.In.Role("text") != "":
		p.text = &t
	}
}

// partsOf reads the parts of records that are on a page. Parts have the time of what they are of,
// by which they are found.
func (p *browsePages) partsOf(ctx context.Context, all *things.Streams, listed []things.Thing) (map[things.ID]parts,
	error) {
	out := map[things.ID]parts{}
	spans := map[*things.Stream]conversationPart{}
	for i := range listed {
		t := &listed[i]
		if t.At == nil {
			continue
		}
		s, known := spans[t.In]
		if !known || t.At.Before(s.since) {
			s.since = *t.At
		}
		if !known || !t.At.Before(s.until) {
			s.until = t.At.Add(time.Microsecond)
		}
		spans[t.In] = s
	}
	for of, at := range spans {
		for _, s := range all.PartStreams(of) {
			if s.Role("time") == "" {
				continue
			}
			found, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true,
				Since: at.since, Until: at.until, Fields: s.FieldNames(), Limit: mostParts})
			if err != nil {
				return nil, err
			}
			for _, r := range found.Records {
				t := s.Thing(r)
				id := things.ID{Connection: of.ConnectionID, Stream: of.Name,
					Key: t.Text("part_of")}
				whole := out[id]
				whole.put(t)
				out[id] = whole
			}
		}
	}
	return out, nil
}

// partsOfOne reads the parts of one record, those too that have its key and no time.
func (p *browsePages) partsOfOne(ctx context.Context, all *things.Streams, t *things.Thing) (parts, error) {
	found, err := p.partsOf(ctx, all, []things.Thing{*t})
	whole := found[t.ID()]
	if err != nil || whole.text != nil {
		return whole, err
	}
	for _, s := range all.PartStreams(t.In) {
		if s.Role("text") == "" || s.Kind() == manifest.KindFile {
			continue
		}
		record, _, err := p.Owner.Record(ctx, s.ConnectionID, s.Name, t.Key)
		var known *api.Error
		switch {
		case err == nil:
			if part := s.Thing(record); part.Text("part_of") == t.Key {
				whole.put(part)
			}
		case !errors.As(err, &known) || known.Status != http.StatusNotFound:
			return whole, err
		}
	}
	return whole, nil
}
