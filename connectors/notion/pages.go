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
	mostBlocks    = 50_000
	maxBlockDepth = 40
)

// fetchPageContent reads the content of a page, block by block. Pages and databases within it are separate objects,
// and so are the originals of synced blocks.
func (a *apiClient) fetchPageContent(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	if item.Time.IsZero() { // the search does not have it, or did not when it was last read
		if _, err := a.fetchObject(ctx, "pages", item.Key); err != nil {
			return nil, err
		}
	}
	r := &pageReader{apiClient: a, page: contentRecord{ID: item.Key, Blocks: []blockRecord{}},
		met: map[string]bool{item.Key: true}}
	if err := r.readChildren(ctx, item.Key, 0); err != nil {
		if failureClass(err) == connectorkit.NotFound {
			if _, gone := a.fetchObject(ctx, "pages", item.Key); gone != nil {
				return nil, gone
			}
		}
		return nil, err
	}
	return append(r.missing, connectorkit.Upsert(r.page.withDefaults())), nil
}

// pageReader is one page that is being read.
type pageReader struct {
	*apiClient
	page    contentRecord
	met     map[string]bool
	missing []connectorkit.Record
	full    bool // the page has more blocks than are read
}

func (r *pageReader) readChildren(ctx context.Context, id string, depth int) error {
	for cursor, seen := "", map[string]bool{}; ; {
		q := url.Values{"page_size": {strconv.Itoa(maxPageSize)}}
		if cursor != "" {
			q.Set("start_cursor", cursor)
		}
		got, err := r.fetchResultPage(ctx, governhttp.Request{Path: "v1/blocks/" + url.PathEscape(id) + "/children",
			Query: q})
		if err != nil {
			return err
		}
		for _, raw := range got.rows {
			if err := r.readOneBlock(ctx, id, raw, depth); err != nil {
				return err
			}
		}
		if got.next == "" || r.full {
			return nil
		}
		if seen[cursor] = true; seen[got.next] {
			return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
		}
		cursor = got.next
	}
}

// readOneBlock reads one block and its children.
func (r *pageReader) readOneBlock(ctx context.Context, parent string, raw jsontext.Value, depth int) error {
	b, inside, err := readBlockRecord(raw)
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
	if r.apiClient != nil {
		r.links.addChild(b.Type, b.ID)
	}
	if !inside {
		return nil
	}
	if depth >= maxBlockDepth {
		r.missing = append(r.missing, connectorkit.Unreadable("what is within the block "+b.ID, nil))
		return nil
	}
	err = r.readChildren(ctx, b.ID, depth+1)
	// a part that is not shared; the rest is
	if c := failureClass(err); c == connectorkit.NotFound || c == connectorkit.Forbidden {
		r.missing = append(r.missing, connectorkit.Unreadable(b.ID, nil))
		return nil
	}
	return err
}
