package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func testSearches(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.Search {
		t.Helper()
		all, err := s.Searches(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	fails(t, s.RenameSearch(ctx, "a", "Trees"), store.ErrNotFound)
	fails(t, s.DeleteSearch(ctx, "a"), store.ErrNotFound)

	pears := store.Search{ID: "a", Name: "Pears", Address: "/records?q=pear", CreatedAt: Now}
	accents := store.Search{ID: "b", Name: "Äpfel", Address: "/records/mail?source=c", CreatedAt: Now.Add(-time.Hour)}
	ok(t, s.AddSearch(ctx, pears))
	ok(t, s.AddSearch(ctx, accents))
	same(t, listed(), []store.Search{pears, accents}) // by their bytes
	fails(t, s.AddSearch(ctx, pears), store.ErrExists)
	fails(t, s.AddSearch(ctx, store.Search{ID: "c", Name: "Pears", Address: "/records?q=other", CreatedAt: Now}),
		store.ErrExists)
	fails(t, s.RenameSearch(ctx, "b", "Pears"), store.ErrExists)
	ok(t, s.RenameSearch(ctx, "a", "Pears")) // its own
	same(t, listed(), []store.Search{pears, accents})

	ok(t, s.RenameSearch(ctx, "b", "Apples"))
	accents.Name = "Apples"
	same(t, listed(), []store.Search{accents, pears})
	ok(t, s.DeleteSearch(ctx, "b"))
	fails(t, s.DeleteSearch(ctx, "b"), store.ErrNotFound)
	same(t, listed(), []store.Search{pears})
}
