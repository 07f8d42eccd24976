package connectorkit

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// Partitioned collects one stream in parts: the children of each parent, or the items of each fixed value. Every run
// lists all parts. A part that cannot be read becomes one gap with the part as its locator, and a later run reads that
// part again. The rest of a list that exceeds a cap or Most is one gap too.
type Partitioned struct {
	Stream string
	// List reads one page of the list of parts. It is called with the token of the previous page, or with none for the
	// first.
	List func(ctx context.Context, token string) (PartPage, error)
	// Fetch reads a part. A part that comes from the gap of an earlier run has its key and locator.
	Fetch func(ctx context.Context, part Part) ([]Record, error)
	// Bookmark returns the bookmark after the parts that Done reported. Finished is set after a walk through all parts.
	Bookmark func(finished bool) Cursor
	// Done is called when all records of a part were sent. Nil ignores it.
	Done func(key string)
	// Note returns a sentence for the owner about what a finished walk cannot find. Nil, or an empty text, means none.
	Note func() string
	// Most bounds the parts that one walk reads. Zero means no bound.
	Most int
	// Confirm returns which of the stored keys that a whole walk did not find are gone, after a second look. Nil means
	// that nothing is deleted.
	Confirm func(ctx context.Context, keys []string) ([]string, error)
	// AtOnce means that Fetch may be called concurrently, as with ListDetail.
	AtOnce bool
}

// PartPage is one page of the list of parts.
type PartPage struct {
	Parts []Part
	Next  string // token of the next page; empty at the end
}

// Part is one part of a Partitioned.
type Part struct {
	Key string
	// Locator is what Fetch needs, as a JSON object without secrets. It is stored with the gap of the part.
	Locator jsontext.Value
	// Emit sends records before Fetch returns. It is nil if Fetch must return all of them.
	Emit func(ctx context.Context, records []Record) error
}

func (p Partitioned) beginRun(r *runstate.Run) collectorRun {
	spec := listdetail.Spec{
		Detail: p.Stream, Parts: true, MostParts: p.Most, Confirm: p.Confirm, AtOnce: p.AtOnce, Done: func(string) {},
		Note: func() string { return "" },
		ListPage: func(ctx context.Context, w listdetail.Window) (listdetail.Page, error) {
			page, err := p.List(ctx, w.Token)
			out := listdetail.Page{Items: make([]listdetail.Item, len(page.Parts)), Next: page.Next}
			for i, part := range page.Parts {
				out.Items[i] = listdetail.Item{Key: part.Key, Locator: part.Locator}
			}
			return out, err
		},
		Fetch: func(ctx context.Context, item listdetail.Item) ([]runstate.Record, error) {
			part := Part{Key: item.Key, Locator: item.Locator}
			if item.Emit != nil {
				part.Emit = func(ctx context.Context, records []Record) error { return item.Emit(ctx, contentOf(records)) }
			}
			records, err := p.Fetch(ctx, part)
			return contentOf(records), err
		},
		Bookmark: func(done bool) jsontext.Value {
			mark, err := p.Bookmark(done).encodeCursor()
			if err != nil {
				return jsontext.Value("{}") // a text that is not UTF-8 cannot come from JSON
			}
			return mark
		},
	}
	if p.Done != nil {
		spec.Done = p.Done
	}
	if p.Note != nil {
		spec.Note = p.Note
	}
	return listdetail.NewRun(spec, r)
}
