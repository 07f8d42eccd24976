package notion

import (
	"context"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// mostBlocks and deepest bound one page's content.
	mostBlocks = 50_000
	deepest    = 40
)

// content reads what stands on a page, block by block. Pages and databases within it are things of their own, and
// so is what a synced block shows of another place.
func (a *api) content(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	if item.Time.IsZero() { // the search does not have it, or did not when it was last read
		if _, err := a.read(ctx, "pages", item.Key); err != nil {
			return nil, err
		}
	}
	r := &reading{api: a, page: contentRecord{ID: item.Key, Blocks: []blockRecord{}}, met: map[string]bool{item.Key: true}}
	if err := r.children(ctx, item.Key, 0); err != nil {
		if of(err) == connectorkit.NotFound {
			if _, gone := a.read(ctx, "pages", item.Key); gone != nil {
				return nil, gone
			}
		}
		return nil, err
	}
	return append(r.missing, connectorkit.Upsert(r.page.finish())), nil
}

// reading is one page that is being read.
type reading struct {
	*api
	page    contentRecord
	met     map[string]bool
	missing []connectorkit.Record
	full    bool // the page has more blocks than are read
}

func (r *reading) children(ctx context.Context, id string, depth int) error {
	for cursor, seen := "", map[string]bool{}; ; {
		q := url.Values{"page_size": {strconv.Itoa(pageSize)}}
		if cursor != "" {
			q.Set("start_cursor", cursor)
		}
		got, err := r.list(ctx, governhttp.Request{Path: "v1/blocks/" + url.PathEscape(id) + "/children", Query: q})
		if err != nil {
			return err
		}
		for _, raw := range got.rows {
			if err := r.block(ctx, id, raw, depth); err != nil {
				return err
			}
		}
		if got.next == "" || r.full {
			return nil
		}
		if seen[cursor] = true; seen[got.next] {
			return connectorkit.Fail(connectorkit.Malformed, errFrame)
		}
		cursor = got.next
	}
}

// block takes one block and, below it, those that it holds.
func (r *reading) block(ctx context.Context, parent string, raw jsontext.Value, depth int) error {
	b, inside, err := readBlock(raw)
	if err != nil || b.ID == "" {
		r.missing = append(r.missing, connectorkit.Unreadable(b.ID, err))
		return nil
	}
	if r.met[b.ID] || r.full {
		return nil
	}
	if r.full = len(r.page.Blocks) >= mostBlocks; r.full {
		r.missing = append(r.missing, connectorkit.Unreadable("everything from the block "+b.ID+" on", nil))
		return nil
	}
	r.met[b.ID] = true
	if b.Parent = parent; parent == r.page.ID {
		b.Parent = ""
	}
	r.page.Blocks = append(r.page.Blocks, b)
	if r.api != nil {
		r.links.found(b.Type, b.ID)
	}
	if !inside {
		return nil
	}
	if depth >= deepest {
		r.missing = append(r.missing, connectorkit.Unreadable("what is within the block "+b.ID, nil))
		return nil
	}
	err = r.children(ctx, b.ID, depth+1)
	if c := of(err); c == connectorkit.NotFound || c == connectorkit.Forbidden { // a part that is not shared; the rest is
		r.missing = append(r.missing, connectorkit.Unreadable(b.ID, nil))
		return nil
	}
	return err
}
