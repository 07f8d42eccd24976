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
	maxWalkKeys = 4 << 20 // keys that one walk may meet; more are not compared
	storedPage  = 5000    // stored keys that are read at once
	fewMissing  = 20      // so many missing records are believed, however small the stream is
)

// keyMark represents a key in the memory of a walk. Two keys with one mark would keep a record that is gone,
// and never delete one that is there.
type keyMark [16]byte

func markOf(key string) (m keyMark) {
	sum := sha256.Sum256([]byte(key))
	copy(m[:], sum[:])
	return m
}

// walk is what the runner knows of a connector's walk over everything that the source has of one stream.
type walk struct {
	met     []keyMark
	holes   bool // something that may have a key was left out without it, or there is too much
	ended   bool // the comparison has been made
	status  protocol.WalkStatus
	missing []string // not served yet
}

// meet notes a key of the source. An empty key means something unknown.
func (w *walk) meet(key string) {
	switch {
	case w == nil || w.ended:
	case key == "" || len(w.met) >= maxWalkKeys:
		w.holes, w.met = true, nil
	case !w.holes:
		w.met = append(w.met, markOf(key))
	}
}

// holed notes that something of a stream was left out; nil means of any stream.
func (s *session) holed(st *stream) {
	for _, other := range s.order {
		if st == nil || st == other {
			other.walk.meet("")
		}
	}
}

// walked handles the message of a walk.
func (s *session) walked(ctx context.Context, m *protocol.Walk) error {
	st := s.streams[m.Stream]
	if st == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
	}
	broken := func(want string) error {
		return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Stream: m.Stream,
			Expected: []string{want}}
	}
	switch {
	case !s.start.Walks:
		return broken("no WALK: START does not say that it is accepted")
	case m.Phase == protocol.WalkBegin:
		st.walk, st.missing = &walk{}, 0
		return nil
	case st.walk == nil:
		return broken("phase begin before any other")
	case m.Phase == protocol.WalkPresent && st.walk.ended:
		return broken("no further keys after phase end")
	case m.Phase == protocol.WalkPresent:
		for _, key := range m.Keys {
			st.walk.meet(key)
		}
		return nil
	}
	if !st.walk.ended {
		if err := s.compare(ctx, st, m.Since); err != nil {
			return s.storageFailed(err)
		}
	}
	w := st.walk
	page := w.missing[:min(len(w.missing), protocol.MaxWalkKeys)]
	w.missing = w.missing[len(page):]
	s.send("walk_missing", &protocol.WalkMissing{RequestID: m.RequestID, Status: w.status, Keys: page,
		More: len(w.missing) > 0})
	return nil
}

// compare finds the stored records that a walk did not meet. It returns none where the run itself shows that
// the walk was not whole, and none where more than half of a large stream is missing: a sign-in that sees less
// is likelier than that.
func (s *session) compare(ctx context.Context, st *stream, since string) error {
	w := st.walk
	w.ended = true
	narrow := len(st.Scope.Resources) > 0 || st.Scope.TimeRange != nil
	if w.holes || narrow || st.ended || st.Decl.Semantics != manifest.MutableState {
		w.status, w.met = protocol.WalkUnproven, nil
		return nil
	}
	if at, err := protocol.ParseTime(since); err == nil { // as it was decoded; an empty one is none
		since = storedTime(at)
	}
	slices.SortFunc(w.met, func(a, b keyMark) int { return slices.Compare(a[:], b[:]) })
	stored := 0
	for after := ""; ; {
		keys, err := s.spec.StoredKeys(ctx, st.name, since, after, storedPage)
		if err != nil {
			return err
		}
		for _, key := range keys {
			mark := markOf(key)
			_, met := slices.BinarySearchFunc(w.met, mark, func(a, b keyMark) int { return slices.Compare(a[:], b[:]) })
			if !met {
				w.missing = append(w.missing, key)
			}
		}
		stored += len(keys)
		if len(keys) < storedPage {
			break
		}
		after = keys[len(keys)-1]
	}
	w.met, w.status = nil, protocol.WalkCompared
	data := map[string]any{"stored": stored, "missing": len(w.missing)}
	if len(w.missing) > fewMissing && len(w.missing) > stored/2 {
		w.status, st.missing, w.missing = protocol.WalkRefused, int64(len(w.missing)), nil
	}
	data["status"] = w.status
	s.note("run.walk_compared", st.name, data)
	return nil
}

// knownMissing reports the stored records that were kept although a walk did not meet them, by stream.
func (s *session) knownMissing() (out []KnownGap) {
	for _, st := range s.order {
		if st.missing > 0 {
			out = append(out, KnownGap{Kind: protocol.KnownSkipResult, Reason: string(protocol.ReasonMissingKept),
				Severity: protocol.SeverityInformational, Stream: st.name,
				Count: st.missing, Message: protocol.OwnerCopy(protocol.ReasonMissingKept, ""),
				RecoveryHint: protocol.RecoveryHint{Action: protocol.ManualActionRequired}})
		}
	}
	return out
}
