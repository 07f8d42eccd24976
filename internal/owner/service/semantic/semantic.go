// Package semantic is what an owner can do about searching by meaning.
package semantic

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// maxText bounds the name of a model and a secret, in bytes.
const maxText = 1000

// Store is what is read and written.
type Store interface {
	store.Vectors
	Streams(ctx context.Context, connectionID string) ([]store.StreamInfo, error)
}

// Config is what the choice is kept with.
type Config struct {
	Store        Store
	Key, Opening func() (credential.Key, error)
	Now          func() time.Time
}

// Chooser stores the owner's choice.
type Chooser struct{ c Config }

// New returns the choice of a store.
func New(c Config) *Chooser { return &Chooser{c} }

// SemanticSearch returns how it goes.
func (s *Chooser) SemanticSearch(ctx context.Context) (semantic.Search, error) {
	e, err := s.c.Store.Embedding(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return semantic.Search{}, nil
	}
	if err != nil {
		return semantic.Search{}, faults.OwnerError(err, "read the endpoint")
	}
	out := semantic.Search{On: true, Kind: e.Kind, Address: e.Address, Model: e.Model, HasSecret: len(e.Sealed) > 0,
		ChangedAt: &e.ChangedAt, Failure: e.LastFailure, NextAt: e.NextAt}
	if u, err := url.Parse(e.Address); err == nil {
		out.Leaves = u.Scheme == "https"
	}
	if out.Vectors, err = s.c.Store.CountVectors(ctx); err != nil {
		return semantic.Search{}, faults.OwnerError(err, "count the vectors")
	}
	out.Pending, err = s.pending(ctx)
	return out, err
}

func (s *Chooser) pending(ctx context.Context) (n int64, err error) {
	streams, err := s.c.Store.Streams(ctx, "")
	if err != nil {
		return 0, faults.OwnerError(err, "list the streams")
	}
	feeds, err := s.c.Store.VectorFeeds(ctx)
	if err != nil {
		return 0, faults.OwnerError(err, "list the vectors")
	}
	type name struct{ connection, stream string }
	reached := map[name]int64{}
	for _, f := range feeds {
		if len(f.Fields) > 0 {
			reached[name{f.ConnectionID, f.Stream}] = f.Seq
		}
	}
	for _, stream := range streams {
		seq, followed := reached[name{stream.ConnectionID, stream.Name}]
		if followed || len(feeds) == 0 { // without feeds it has just begun
			n += stream.LastSeq - seq
		}
	}
	return n, nil
}

// SetSemanticSearch stores an endpoint that has answered.
func (s *Chooser) SetSemanticSearch(ctx context.Context, wanted semantic.Endpoint) (semantic.Search, error) {
	address, err := embedding.CheckAddress(wanted.Kind, strings.TrimSpace(wanted.Address))
	if err != nil {
		return semantic.Search{}, faults.OwnerError(err, "check the address")
	}
	model := strings.TrimSpace(wanted.Model)
	if model == "" || len(model) > maxText || len(wanted.Secret) > maxText {
		return semantic.Search{}, api.Invalid("model", "The name of the model is missing or too long.",
			"Name a model for embeddings that the endpoint has.")
	}
	e := store.Embedding{Generation: "emb_" + strings.ToLower(rand.Text()[:16]), Kind: wanted.Kind, Address: address,
		Model: model, ChangedAt: s.c.Now()}
	was, err := s.c.Store.Embedding(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return semantic.Search{}, faults.OwnerError(err, "read the endpoint")
	}
	if err == nil && was.Kind == e.Kind && was.Address == e.Address && was.Model == e.Model {
		e.Generation, e.Sealed = was.Generation, was.Sealed
	}
	var key credential.Key
	switch {
	case wanted.Secret != "":
		if key, err = s.c.Key(); err == nil {
			e.Sealed = embedding.SealSecret(key, e.Generation, wanted.Secret)
		}
	case len(e.Sealed) > 0:
		key, err = s.c.Opening()
	default:
		err = nil
	}
	if err != nil {
		return semantic.Search{}, faults.OwnerError(err, "load the key that seals secrets")
	}
	if err := embedding.Probe(ctx, key, e); err != nil {
		return semantic.Search{}, refused(err)
	}
	if err := s.c.Store.SetEmbedding(ctx, e); err != nil {
		return semantic.Search{}, faults.OwnerError(err, "keep the endpoint")
	}
	return s.SemanticSearch(ctx)
}

func refused(err error) error {
	failed := (*embedding.Failure)(nil)
	if !errors.As(err, &failed) {
		return faults.OwnerError(err, "try the endpoint")
	}
	return &api.Error{Status: http.StatusConflict, Code: "embedding_failed", Param: "address", Err: err,
		Message: "The endpoint returned no vector for a test word (" + failed.Reason + "). Nothing was changed.",
		Next:    "Check the address, the model and the secret, and that this server reaches the endpoint."}
}

// EndSemanticSearch deletes the choice and what was computed.
func (s *Chooser) EndSemanticSearch(ctx context.Context) error {
	return faults.OwnerError(s.c.Store.EndEmbedding(ctx), "turn it off")
}
