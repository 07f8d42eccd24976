package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// Vectors stores vectors of the texts of records, for searches by meaning, and the owner's choice of the endpoint that
// computes them. Without a choice there are no vectors.
type Vectors interface {
	// Embedding returns the choice, or ErrNotFound.
	Embedding(ctx context.Context) (Embedding, error)
	// SetEmbedding stores a choice. It deletes all vectors unless the stored choice has the same generation.
	SetEmbedding(ctx context.Context, e Embedding) error
	// EndEmbedding deletes the choice and all vectors.
	EndEmbedding(ctx context.Context) error
	// ClaimEmbedding reserves the work for one process until a time, unless another process has it or it must wait.
	ClaimEmbedding(ctx context.Context, generation, holder string, now, until time.Time) (claimed bool, err error)
	// SetEmbeddingState ends the claim of a process. It returns ErrNotFound after another choice or claim.
	SetEmbeddingState(ctx context.Context, generation, holder string, s EmbeddingState) error
	// VectorFeeds returns how far each stream has vectors. A stream without a feed has none.
	VectorFeeds(ctx context.Context) ([]VectorFeed, error)
	// VectorDigests returns the digests of the texts that the vectors of records were computed from.
	VectorDigests(ctx context.Context, recordIDs []int64) (map[VectorField][]byte, error)
	// PutVectors replaces the vectors of some records and moves the feed of their stream, in one transaction. It
	// returns ErrNotFound after another choice or claim, or if the feed has moved already.
	PutVectors(ctx context.Context, m VectorMove) error
	// CountVectors returns how many vectors there are.
	CountVectors(ctx context.Context) (int64, error)
	// Nearest returns the live records with the fields most similar to a vector, the most similar first.
	Nearest(ctx context.Context, q VectorQuery) ([]StoredRecord, error)
}

// Embedding is the endpoint that computes vectors.
type Embedding struct {
	Generation string // changes when vectors of before are of no use
	Kind       string // the protocol of the endpoint
	Address    string
	Model      string
	Sealed     []byte // its secret; empty for none
	ChangedAt  time.Time
	EmbeddingState
}

// EmbeddingState is how the endpoint answers.
type EmbeddingState struct {
	Failures    int // in a row
	LastFailure string
	NextAt      *time.Time // nothing is sent before; nil for now
}

// VectorFeed is how far a stream has vectors.
type VectorFeed struct {
	ConnectionID, Stream string
	Fields               []string // the embedded ones
	Seq                  int64    // changes up to here are embedded
}

// VectorField is a top-level field of a record.
type VectorField struct {
	RecordID int64
	Field    string
}

// VectorMove is the next part of a stream.
type VectorMove struct {
	Generation, Holder string
	Until              time.Time  // of the claim
	From               VectorFeed // as it was read; Seq zero for a stream without a feed
	Fields             []string
	Seq                int64
	Records            []RecordVectors
}

// RecordVectors are the vectors of one version of a record. The vectors of other fields are deleted.
type RecordVectors struct {
	ID, Seq int64
	Fields  []FieldVector
}

// FieldVector is the vector of a field. A nil vector keeps the stored one, for an unchanged text.
type FieldVector struct {
	Field  string
	Digest []byte
	Vector Vector
}

// VectorQuery asks for the most similar records in streams; nil searches everything. Only fields that a filter allows
// are compared, so that no other field influences the order. Limit 0 means 100.
type VectorQuery struct {
	In       []AccessFilter
	Vector   Vector
	Limit    int
	MaxBytes int // as in RecordQuery
}

// Vector is a direction in one byte per component, after the reciprocal of its length in four bytes. The rounding
// moves it by at most half a step of its greatest component in each one.
type Vector []byte

const (
	vectorHead = 4
	// MaxVectorLength bounds the components of a vector.
	MaxVectorLength = 16_384
)

// ErrVector means that numbers are no direction.
var ErrVector = errors.New("the vector is empty, too long, or without a direction")

// NewVector rounds a vector. Its length is lost.
func NewVector(of []float32) (Vector, error) {
	most := 0.0
	for _, x := range of {
		most = max(most, math.Abs(float64(x))) // NaN stays
	}
	if len(of) == 0 || len(of) > MaxVectorLength || !(most > 0) || math.IsInf(most, 1) {
		return nil, ErrVector
	}
	v, sum := make(Vector, vectorHead+len(of)), 0.0
	for i, x := range of {
		rounded := math.Round(float64(x) / most * math.MaxInt8)
		v[vectorHead+i] = byte(int8(rounded))
		sum += rounded * rounded
	}
	binary.LittleEndian.PutUint32(v, math.Float32bits(float32(1/math.Sqrt(sum))))
	return v, nil
}

// Cosine returns the cosine of the angle between two vectors. It returns false for vectors of different models.
func (v Vector) Cosine(other []byte) (float32, bool) {
	if len(v) != len(other) || len(v) <= vectorHead {
		return 0, false
	}
	a, b, dot := v[vectorHead:], other[vectorHead:], int32(0)
	b = b[:len(a)]
	for i := range a {
		dot += int32(int8(a[i])) * int32(int8(b[i]))
	}
	scale := func(v []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(v)) }
	return float32(dot) * scale(v) * scale(other), true
}

// NearestRecords collects the ids of the records with the most similar fields.
type NearestRecords struct {
	Limit int
	best  []nearRecord // the most similar first
}

type nearRecord struct {
	id         int64
	similarity float32
}

// Add adds a field of a record. Of equally similar records the one that was stored later comes first.
func (n *NearestRecords) Add(id int64, similarity float32) {
	one := nearRecord{id, similarity}
	if len(n.best) == n.Limit && compareNear(one, n.best[n.Limit-1]) >= 0 {
		return
	}
	if i := slices.IndexFunc(n.best, func(b nearRecord) bool { return b.id == id }); i >= 0 {
		if compareNear(one, n.best[i]) >= 0 {
			return
		}
		n.best = slices.Delete(n.best, i, i+1)
	}
	at, _ := slices.BinarySearchFunc(n.best, one, compareNear)
	n.best = slices.Insert(n.best, at, one)
	n.best = n.best[:min(len(n.best), n.Limit)]
}

// IDs returns the records, the most similar first.
func (n *NearestRecords) IDs() []int64 {
	ids := make([]int64, len(n.best))
	for i, b := range n.best {
		ids[i] = b.id
	}
	return ids
}

func compareNear(a, b nearRecord) int {
	return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(b.id, a.id))
}
