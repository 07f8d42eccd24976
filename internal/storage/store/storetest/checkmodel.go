package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkModel is a simple model of due checks.
type checkModel map[string]*modelCheck

type modelCheck struct {
	store.DueCheck
	never bool // revoked or a draft
}

// touch makes a connection due at once.
func (m checkModel) touch(id string) {
	m[id].At = time.Time{}
	m[id].ChangeCount++
}

// take returns what ClaimChecks would, and holds it.
func (m checkModel) take(now time.Time, hold time.Duration, limit int) (taken []store.DueCheck) {
	var due []*modelCheck
	for _, l := range m {
		if !l.never && !l.At.After(now) {
			due = append(due, l)
		}
	}
	slices.SortFunc(due, func(a, b *modelCheck) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ConnectionID, b.ConnectionID))
	})
	for _, l := range due[:min(limit, len(due))] {
		l.At = now.Add(hold)
		taken = append(taken, l.DueCheck)
	}
	return taken
}

// put does what PutChecks does: a check counts unless its connection was marked as changed since the claim.
func (m checkModel) put(looks []store.DueCheck) {
	for _, l := range looks {
		if m[l.ConnectionID].ChangeCount == l.ChangeCount {
			m[l.ConnectionID].At = l.At
		}
	}
}

// newCheckModel brings the connections into some state, and returns that of each.
func newCheckModel(t testing.TB, s store.Store, ids []string) checkModel {
	t.Helper()
	model := checkModel{}
	for _, id := range ids {
		ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: id, Status: store.ConnectionActive, UpdatedAt: Now}))
	}
	for _, l := range claimAllChecks(t, s, Now) {
		model[l.ConnectionID] = &modelCheck{DueCheck: l}
	}
	same(t, len(model), len(ids))
	return model
}

// testCheckModel compares any order of changes, claims, writes and status changes with the model. So no change is
// lost, however old the checks that are put after it, and no claim is served twice.
//
//pdpp:tier unraced TestStore/LookModel
func testCheckModel(t *testing.T, s store.Store) {
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		connect(t, s, id)
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, len(ids), rapid.ID)
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return Now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * time.Hour)
	})
	rapid.Check(t, func(rt *rapid.T) {
		model := newCheckModel(t, s, ids)
		var taken [][]store.DueCheck // what schedulers have claimed
		for range rapid.IntRange(2, 16).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"touch", "take", "take", "put", "status"}).Draw(rt, "step") {
			case "touch":
				touched := some.Draw(rt, "touched")
				ok(t, s.MarkChanged(t.Context(), touched...))
				for _, id := range touched {
					model.touch(id)
				}
			case "take":
				now, hold := moment.Draw(rt, "now"), time.Duration(rapid.IntRange(1, 2).Draw(rt, "hold"))*time.Hour
				limit := rapid.IntRange(1, len(ids)).Draw(rt, "limit")
				got, err := s.ClaimChecks(t.Context(), now, hold, limit)
				ok(t, err)
				same(t, got, model.take(now, hold, limit))
				taken = append(taken, got)
			case "put":
				if len(taken) == 0 {
					continue
				}
				put := slices.Clone(rapid.SampledFrom(taken).Draw(rt, "looks"))
				for i := range put {
					put[i].At = rapid.OneOf(moment, rapid.Just(time.Time{})).Draw(rt, "at")
				}
				ok(t, s.PutChecks(t.Context(), put))
				model.put(put)
			case "status":
				id := rapid.SampledFrom(ids).Draw(rt, "id")
				status := rapid.SampledFrom([]store.ConnectionStatus{store.ConnectionActive, store.ConnectionPaused,
					store.ConnectionRevoked, store.ConnectionDraft}).Draw(rt, "status")
				ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: id, Status: status, UpdatedAt: Now}))
				model.touch(id)
				model[id].never = status == store.ConnectionRevoked || status == store.ConnectionDraft
			}
		}
		same(t, claimAllChecks(t, s, farFuture), model.take(farFuture, checkHold, len(ids)))
	})
}
