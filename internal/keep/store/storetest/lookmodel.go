package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// lookModel says what every connection's look is, in the plainest way.
type lookModel map[string]*modelLook

type modelLook struct {
	store.Check
	never bool // revoked or a draft
}

// touch asks for a look at once.
func (m lookModel) touch(id string) {
	m[id].At = time.Time{}
	m[id].Touches++
}

// take gives what Looks does, and holds it.
func (m lookModel) take(now time.Time, hold time.Duration, limit int) (taken []store.Check) {
	var due []*modelLook
	for _, l := range m {
		if !l.never && !l.At.After(now) {
			due = append(due, l)
		}
	}
	slices.SortFunc(due, func(a, b *modelLook) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ConnectionID, b.ConnectionID))
	})
	for _, l := range due[:min(limit, len(due))] {
		l.At = now.Add(hold)
		taken = append(taken, l.Check)
	}
	return taken
}

// put does what PutLooks does: a look counts unless its connection was touched
// since it was taken.
func (m lookModel) put(looks []store.Check) {
	for _, l := range looks {
		if m[l.ConnectionID].Touches == l.Touches {
			m[l.ConnectionID].At = l.At
		}
	}
}

// newLookModel brings the connections into some state, and gives that of each.
func newLookModel(t testing.TB, s store.Store, ids []string) lookModel {
	t.Helper()
	model := lookModel{}
	for _, id := range ids {
		ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: id, Status: store.ConnectionActive, UpdatedAt: Now}))
	}
	for _, l := range take(t, s, Now) {
		model[l.ConnectionID] = &modelLook{Check: l}
	}
	same(t, len(model), len(ids))
	return model
}

// testLookModel compares any order of touches, takings, writings and changes of
// status with the model. So no touch is lost, however old the looks are that are
// put after it, and what one holds no other gets.
//
//pdpp:tier unraced TestStore/LookModel
func testLookModel(t *testing.T, s store.Store) {
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		connect(t, s, id)
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, len(ids), rapid.ID)
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return Now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * time.Hour)
	})
	rapid.Check(t, func(rt *rapid.T) {
		model := newLookModel(t, s, ids)
		var taken [][]store.Check // what schedulers have in their hands
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
		same(t, take(t, s, far), model.take(far, lookHold, len(ids)))
	})
}
