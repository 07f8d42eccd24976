package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// newAttention returns a new record of a connection.
func newAttention(id, connection, occasion string) attention.AttentionRecord {
	return attention.AttentionRecord{
		ID: id, ConnectionID: connection, Kind: "reauth", Contract: "credential_accepted", Urgency: "now",
		Words:  "Sign in again.",
		Reason: "auth_failed", Occasion: occasion, Lifecycle: evidence.AttentionOpen, OpenedAt: Now, UpdatedAt: Now,
		Notice: attention.NoticePending,
	}
}

func records(t testing.TB, s store.Store, q store.AttentionQuery) []attention.AttentionRecord {
	t.Helper()
	all, err := s.Attention(t.Context(), q)
	ok(t, err)
	return all
}

func recordIDs(all []attention.AttentionRecord) (ids []string) {
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

// save saves records and returns them as they are stored then.
func save(t testing.TB, s store.Store, all ...attention.AttentionRecord) []attention.AttentionRecord {
	t.Helper()
	ok(t, s.SaveAttention(t.Context(), all, nil))
	for i := range all {
		all[i].Revision++
	}
	return all
}

func testAttention(t *testing.T, s store.Store) {
	same(t, records(t, s, store.AttentionQuery{All: true}), nil)
	ok(t, s.SaveAttention(t.Context(), nil, nil))
	for _, id := range []string{"c", "d", "e"} {
		connect(t, s, id)
	}
	fails(
		t,
		s.SaveAttention(t.Context(), []attention.AttentionRecord{newAttention("n", "nowhere", "")}, nil),
		store.ErrNotFound,
	)

	later, expires := Now.Add(time.Minute), Now.Add(time.Hour)
	c, d := newAttention("a2", "c", ""), newAttention("a1", "d", "")
	c.Affects, c.ExpiresAt, c.NoticeAt, c.NoticeWhy = []string{"items", "lists"}, &expires, &later, "quiet hours"
	d.OpenedAt, d.Notice = later, attention.NoticeSent
	save(t, s, d, c)
	c.Revision, d.Revision = 1, 1
	same(t, records(t, s, store.AttentionQuery{}), []attention.AttentionRecord{c, d}) // the oldest first

	// Everything can change except the connection.
	c.Kind, c.Contract, c.Urgency, c.Affects, c.Words = "reconnect", "run_succeeded", "soon", nil, "Connect again."
	c.Reason, c.Occasion, c.UpdatedAt, c.OpenedAt, c.ExpiresAt = "otp_required", "q1", later, Now.Add(-time.Hour), nil
	c.ConfirmAskedAt, c.Confirmations, c.Notice, c.NoticeAt, c.NoticeWhy = &later, 2, attention.NoticeFailed, &expires, ""
	same(t, c.Move(evidence.AttentionInProgress, later), true)
	c = save(t, s, c)[0]
	same(t, records(t, s, store.AttentionQuery{}), []attention.AttentionRecord{c, d})

	// Closed records are returned on request.
	closed := newAttention("a0", "e", "")
	closed.Move(evidence.AttentionResolved, later)
	closed = save(t, s, closed)[0]
	for _, c := range []struct {
		q    store.AttentionQuery
		want []string
	}{
		{store.AttentionQuery{}, []string{"a2", "a1"}},
		{store.AttentionQuery{All: true}, []string{"a2", "a0", "a1"}},
		{store.AttentionQuery{Notice: attention.NoticeFailed}, []string{"a2"}},
		{store.AttentionQuery{Notice: attention.NoticePending}, nil},
		{store.AttentionQuery{Notice: attention.NoticePending, All: true}, []string{"a0"}},
		{store.AttentionQuery{ConnectionIDs: []string{"d", "e", "nowhere"}}, []string{"a1"}},
		{store.AttentionQuery{ConnectionIDs: []string{"e", "d"}, ClosedSince: &later}, []string{"a0", "a1"}},
		{store.AttentionQuery{ConnectionIDs: []string{}, All: true}, nil},
	} {
		same(t, recordIDs(records(t, s, c.q)), c.want)
	}
	after := later.Add(time.Microsecond)
	same(t, recordIDs(records(t, s, store.AttentionQuery{ClosedSince: &later})), []string{"a2", "a0", "a1"})
	same(t, recordIDs(records(t, s, store.AttentionQuery{ClosedSince: &after})), []string{"a2", "a1"})
	same(
		t,
		records(t, s, store.AttentionQuery{ConnectionIDs: []string{"e"}, All: true}),
		[]attention.AttentionRecord{closed},
	)
}

// testAttentionLives checks that the store and the record agree on which states are open.
func testAttentionLives(t *testing.T, s store.Store) {
	connect(t, s, "c")
	for _, l := range []evidence.Lifecycle{
		evidence.AttentionOpen, evidence.AttentionAcknowledged, evidence.AttentionInProgress,
		evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded,
	} {
		r := newAttention(string(l), "c", string(l))
		r.Lifecycle = l
		save(t, s, r)
		same(t, slices.Contains(recordIDs(records(t, s, store.AttentionQuery{})), r.ID), r.Open())
		again := newAttention("again-"+string(l), "c", string(l))
		if r.Open() {
			fails(t, s.SaveAttention(t.Context(), []attention.AttentionRecord{again}, nil), store.ErrStale)
		} else {
			save(t, s, again)
		}
	}
}

// testAttentionStale checks that saving a record that was changed since it was read changes nothing.
func testAttentionStale(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	connect(t, s, "d")
	first := save(t, s, newAttention("a", "c", ""))[0]
	read := records(t, s, store.AttentionQuery{})[0]
	first.Words = "Changed."
	first = save(t, s, first)[0]
	same(t, first.Revision, 2)

	request := &store.RunRequest{ConnectionID: "d", Trigger: store.TriggerRetry, RequestedAt: Now}
	unchanged := func(all ...attention.AttentionRecord) {
		t.Helper()
		fails(t, s.SaveAttention(ctx, all, request), store.ErrStale)
		same(t, records(t, s, store.AttentionQuery{All: true}), []attention.AttentionRecord{first})
		_, err := s.RunRequest(ctx, "d")
		fails(t, err, store.ErrNotFound)
	}
	other := newAttention("b", "d", "")
	read.Words = "Too late."
	unchanged(other, read)
	unchanged(read, other)
	ahead := first
	ahead.Revision++
	unchanged(other, ahead)
	unchanged(newAttention("a", "d", ""))         // the id is taken
	unchanged(other, newAttention("b2", "c", "")) // the key is taken
	unknown := other
	unknown.Revision = 1
	unchanged(unknown)
	unchanged(other, newAttention("b2", "d", "")) // twice the same key in one save

	// A record may replace one that the same save closes.
	same(t, first.Move(evidence.AttentionSuperseded, Now), true)
	second := newAttention("0", "c", "")
	ok(t, s.SaveAttention(ctx, []attention.AttentionRecord{second, other, first}, request))
	same(t, recordIDs(records(t, s, store.AttentionQuery{})), []string{"0", "b"})
	same(t, len(records(t, s, store.AttentionQuery{All: true})), 3)
}

// testAttentionRun checks that the request for a run is saved with the records, and that a pending one stays.
func testAttentionRun(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	request := store.RunRequest{ConnectionID: "c", Trigger: store.TriggerRetry, RecoveryOnly: true, RequestedAt: Now}
	ok(t, s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("a", "c", "")}, &request))
	later := request
	later.Trigger, later.RequestedAt = store.TriggerManual, Now.Add(time.Hour)
	ok(t, s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("b", "c", "q")}, &later))
	got, err := s.RunRequest(ctx, "c")
	ok(t, err)
	same(t, got, request)
	same(t, len(records(t, s, store.AttentionQuery{})), 2)
	fails(t, s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("x", "c", "x")},
		&store.RunRequest{ConnectionID: "nowhere"}),
		store.ErrNotFound)
	same(t, len(records(t, s, store.AttentionQuery{})), 2)
}
