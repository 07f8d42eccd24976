package export

import (
	"cmp"
	"context"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// lookups finds what readers need of other streams of the connection: the text of a message that is kept as a stream
// of its own, and the titles of conversations.
type lookups struct {
	owner  api.Owner
	stream *api.Stream
	texts  *api.Stream // nil when the records have their texts
	thread *api.Stream // nil when no stream has the titles
	titles map[string]string
}

// mostTitles bounds the titles that are remembered.
const mostTitles = 10_000

func newLookups(ctx context.Context, o api.Owner, s *api.Stream) (*lookups, error) {
	l := &lookups{owner: o, stream: s, titles: map[string]string{}}
	all, err := o.Streams(ctx, s.ConnectionID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		other := &all[i]
		roles := other.Display.Roles
		if s.Display.Roles["text"] == "" && other.Display.Related["part_of"] == s.Name && roles["part_of"] == "id" &&
			roles["text"] != "" {
			l.texts = other
		}
		if s.Display.Related["thread"] == other.Name && roles["title"] != "" {
			l.thread = other
		}
	}
	return l, nil
}

// add completes the records with what the other streams hold.
func (l *lookups) add(ctx context.Context, records []*Record) error {
	if l.texts != nil {
		var keys []string
		for _, r := range records {
			keys = append(keys, r.Key)
		}
		texts, err := l.read(ctx, l.texts, "text", keys)
		if err != nil {
			return err
		}
		for _, r := range records {
			r.Text = texts[r.Key]
		}
	}
	if l.thread == nil {
		return nil
	}
	var unknown []string
	for _, r := range records {
		if id := r.role(l.stream, "thread"); id != "" {
			if _, known := l.titles[id]; !known {
				if len(l.titles) >= mostTitles {
					clear(l.titles)
				}
				l.titles[id] = ""
				unknown = append(unknown, id)
			}
		}
	}
	titles, err := l.read(ctx, l.thread, "title", unknown)
	if err != nil {
		return err
	}
	for id, title := range titles {
		l.titles[id] = title
	}
	for _, r := range records {
		r.Thread = cmp.Or(l.titles[r.role(l.stream, "thread")], r.Thread)
	}
	return nil
}

// read returns the texts of a role of up to 100 records by their keys.
func (l *lookups) read(ctx context.Context, s *api.Stream, role string, keys []string) (map[string]string, error) {
	found := map[string]string{}
	if len(keys) == 0 {
		return found, nil
	}
	page, err := l.owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, Keys: keys,
		Limit: lookupSize})
	if err != nil {
		return nil, err
	}
	for i := range page.Records {
		r := &Record{Record: page.Records[i]}
		found[r.Key] = r.role(s, role)
	}
	return found, nil
}
