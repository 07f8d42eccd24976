package status

import (
	"cmp"
	"context"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// arrivedStreams is of how many streams the page of a first run shows the newest things, and arrivedEach how many of
// each.
const (
	arrivedStreams = 3
	arrivedEach    = 2
)

// arrived is one thing that a first run has brought.
type arrived struct {
	Title, Stream, Address string
	Kind                   records.ThingKind
}

// arrived returns the newest things of a source, from several of its streams.
func (p *Pages) arrived(ctx context.Context, id string) (out []arrived, err error) {
	streams, err := p.owner.Streams(ctx, id)
	if err != nil {
		return nil, err
	}
	read := 0
	for i := range streams {
		s := &streams[i]
		kind, is := records.KindOf(s)
		if s.ConnectionID != id || s.Records == 0 || !is || read == arrivedStreams {
			continue
		}
		read++
		page, err := p.owner.Records(ctx, api.RecordQuery{ConnectionID: id, Stream: s.Name, Limit: arrivedEach})
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			title, _ := records.Summarize(r, s, nil)
			if title == r.Key { // a key is no name
				title = ""
			}
			out = append(out, arrived{Title: cmp.Or(text.Cut(text.Line(title), ui.LongestCell), s.Label), Stream: s.Label,
				Address: records.RecordAddress(r), Kind: kind})
		}
	}
	return out, nil
}
