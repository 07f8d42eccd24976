package embedding

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// queryTime limits how long a search waits for the vector of its words.
const queryTime = 10 * time.Second

// Ways to search.
const (
	ByMeaning = "meaning"
	ByBoth    = "both" // words and meaning
)

// Errors of a search. They are the same for all readers, whatever the endpoint answered.
var (
	ErrOff = &usererr.Error{Status: 409, Code: "semantic_search_off", Message: "Searching by meaning is turned off here.",
		Next: "Search for words instead."}
	ErrUnavailable = &usererr.Error{Status: 503, Code: "semantic_search_unavailable",
		Message: "Searching by meaning does not work right now.", Next: "Search for words, or try again later.",
		RetryAfter: 10 * time.Second}
)

// SearchStore is what a search reads.
type SearchStore interface {
	Embedding(ctx context.Context) (store.Embedding, error)
	Nearest(ctx context.Context, q store.VectorQuery) ([]store.StoredRecord, error)
	Search(ctx context.Context, q store.SearchQuery) ([]store.StoredRecord, error)
}

// Searcher searches by meaning.
type Searcher struct {
	Store SearchStore
	Key   func() (credential.Key, error)
}

// MeaningQuery is a search. Words and Meaning are where to look: nil is everywhere, and empty is nowhere.
type MeaningQuery struct {
	Text           string
	By             string
	Words, Meaning []store.AccessFilter
	Limit          int
	MaxBytes       int
}

// Search returns the records that mean what the text means, the most similar first. By both, records that have its
// words come as well, and those that are among the first of both come first.
func (s *Searcher) Search(ctx context.Context, q MeaningQuery) ([]store.StoredRecord, error) {
	e, err := s.Store.Embedding(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrOff
	}
	if err != nil {
		return nil, err
	}
	var key credential.Key
	if len(e.Sealed) > 0 {
		if key, err = s.Key(); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	vectors, err := Embed(limited, key, e, []string{q.Text})
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	most := q.Limit
	if q.By == ByBoth {
		most = max(most, fusedPlaces)
	}
	alike, err := s.Store.Nearest(ctx, store.VectorQuery{In: q.Meaning, Vector: vectors[0], Limit: most,
		MaxBytes: q.MaxBytes})
	if err != nil || q.By != ByBoth {
		return alike, err
	}
	worded, err := s.Store.Search(ctx, store.SearchQuery{In: q.Words, Text: q.Text, Limit: most, MaxBytes: q.MaxBytes})
	if err != nil {
		return nil, err
	}
	fused := fuse(worded, alike)
	return fused[:min(len(fused), q.Limit)], nil
}

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed := *ErrUnavailable
	failed.Err = err
	return &failed
}

// fusedPlaces is how many places of each list are merged at least.
const fusedPlaces = 50

// fusionRank dampens the difference between the first places, as is usual for this fusion.
const fusionRank = 60

// fuse merges two lists by the sum of the reciprocals of each record's places.
func fuse(lists ...[]store.StoredRecord) (all []store.StoredRecord) {
	scores := map[int64]float64{}
	for _, list := range lists {
		for place, r := range list {
			if scores[r.ID] == 0 {
				all = append(all, r)
			}
			scores[r.ID] += 1 / float64(fusionRank+place+1)
		}
	}
	slices.SortFunc(all, func(a, b store.StoredRecord) int {
		return cmp.Or(cmp.Compare(scores[b.ID], scores[a.ID]), cmp.Compare(b.ID, a.ID))
	})
	return all
}
