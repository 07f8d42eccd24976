package runner

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of a comparison at the end of a walk.
const (
	maxWalkKeys = 4 << 20 // keys of one walk; a larger walk is not compared
	storedPage  = 5000    // stored keys per query
	fewMissing  = 20      // this many missing records are deleted, however small the stream is
)

// keyDigest represents a key in the memory of a walk. A collision could keep a deleted record, but never delete an
// existing one.
type keyDigest [16]byte

func digestKey(key string) (m keyDigest) {
	sum := sha256.Sum256([]byte(key))
	copy(m[:], sum[:])
	return m
}

func compareDigests(a, b keyDigest) int { return slices.Compare(a[:], b[:]) }

// streamWalk is a connector's walk over all items that the source has of one stream.
type streamWalk struct {
	found      []keyDigest
	incomplete bool // an item was left out without its key, or there are too many keys
	ended      bool // the comparison was made
	status     protocol.WalkStatus
	missing    []string // not served yet
}

// addKey adds a key of the source. An empty key is an unknown item, which makes the walk incomplete.
func (w *streamWalk) addKey(key string) {
	switch {
	case w == nil || w.ended:
	case key == "" || len(w.found) >= maxWalkKeys:
		w.incomplete, w.found = true, nil
	case !w.incomplete:
		w.found = append(w.found, digestKey(key))
	}
}

// markWalksIncomplete records that an item of the stream was left out; nil means of any stream.
func (s *streamSet) markWalksIncomplete(st *stream) {
	for _, other := range s.order {
		if st == nil || st == other {
			other.walk.addKey("")
		}
	}
}

// onWalk handles a phase of a walk. At its end it returns the stored keys that the walk did not find.
func (s *session) onWalk(ctx context.Context, m *protocol.Walk) error {
	st, err := s.streamNamed(m, m.Stream)
	if err != nil {
		return err
	}
	switch {
	case !s.start.Walks:
		return invalidField(m, m.Stream, "no WALK: START does not say that it is accepted")
	case m.Phase == protocol.WalkBegin:
		st.walk, st.missing = &streamWalk{}, 0
		return nil
	case st.walk == nil:
		return invalidField(m, m.Stream, "phase begin before any other")
	case m.Phase == protocol.WalkPresent && st.walk.ended:
		return invalidField(m, m.Stream, "no further keys after phase end")
	case m.Phase == protocol.WalkPresent:
		for _, key := range m.Keys {
			st.walk.addKey(key)
		}
		return nil
	}
	if !st.walk.ended {
		if err := s.compareWalk(ctx, st, m.Since); err != nil {
			return s.secrets.storageFailure(err)
		}
	}
	w := st.walk
	page := w.missing[:min(len(w.missing), protocol.MaxWalkKeys)]
	w.missing = w.missing[len(page):]
	s.conv.send("walk_missing", &protocol.WalkMissing{RequestID: m.RequestID, Status: w.status, Keys: page,
		More: len(w.missing) > 0})
	return nil
}

// compareWalk finds the stored records that a walk did not find. It finds none when the walk was incomplete. It also
// finds none when more than half of a large stream is missing: an account with fewer rights is a likelier cause.
func (s *session) compareWalk(ctx context.Context, st *stream, since string) error {
	w := st.walk
	w.ended = true
	narrow := len(st.Scope.Resources) > 0 || st.Scope.TimeRange != nil
	if w.incomplete || narrow || st.ended || st.Decl.Semantics != manifest.MutableState {
		w.status, w.found = protocol.WalkUnproven, nil
		return nil
	}
	if at, err := protocol.ParseTime(since); err == nil {
		since = storedTime(at)
	}
	slices.SortFunc(w.found, compareDigests)
	stored := 0
	for after := ""; ; {
		keys, err := s.spec.StoredKeys(ctx, st.name, since, after, storedPage)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if _, found := slices.BinarySearchFunc(w.found, digestKey(key), compareDigests); !found {
				w.missing = append(w.missing, key)
			}
		}
		stored += len(keys)
		if len(keys) < storedPage {
			break
		}
		after = keys[len(keys)-1]
	}
	w.found, w.status = nil, protocol.WalkCompared
	data := map[string]any{"stored": stored, "missing": len(w.missing)}
	if len(w.missing) > fewMissing && len(w.missing) > stored/2 {
		w.status, st.missing, w.missing = protocol.WalkRefused, int64(len(w.missing)), nil
	}
	data["status"] = w.status
	s.timeline.note("run.walk_compared", st.name, data)
	return nil
}

// knownMissing returns the stored records that were not deleted although a walk did not find them, by stream.
func (s *streamSet) knownMissing() (out []KnownGap) {
	for _, st := range s.order {
		if st.missing > 0 {
			out = append(out, informationalGap(protocol.ReasonMissingKept, st.name, st.missing))
		}
	}
	return out
}
