package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const racers = 6

// race makes several callers, spread over the stores, do the same thing at once. It returns those that succeeded; all
// others must fail with an error that matches want.
func race(t *testing.T, stores []store.Store, want error, do func(s store.Store, racer int) error) (winners []int) {
	t.Helper()
	errs := make([]error, racers)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-begin
			errs[i] = do(stores[i%len(stores)], i)
		})
	}
	close(begin)
	wg.Wait()
	for i, err := range errs {
		if err == nil {
			winners = append(winners, i)
		} else if !errors.Is(err, want) {
			t.Fatalf("racer %d is refused with %v, want %v", i, err, want)
		}
	}
	return winners
}

// testGrantUseRace checks that of several first reads of a stream one succeeds, and that unlimited reads are all
// counted.
func testGrantUseRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	for round := range 5 {
		id := fmt.Sprint("g", round)
		ok(t, stores[0].CreateGrant(t.Context(), granted(id), nil))
		winners := race(t, stores, store.ErrExists, func(s store.Store, racer int) error {
			return s.UseGrant(t.Context(), id, "once", int64(racer), &store.GrantPage{}, Now, nil)
		})
		same(t, len(winners), 1)
		same(t, len(race(t, stores, nil, func(s store.Store, _ int) error {
			return s.UseGrant(t.Context(), id, "often", 10, nil, Now, nil)
		})), racers)
		uses, err := stores[0].GrantUses(t.Context(), id)
		ok(t, err)
		same(t, uses, []store.GrantUse{
			{Stream: "often", Reads: racers, Records: 10 * racers, LastUsedAt: Now},
			{Stream: "once", Reads: 1, Records: int64(winners[0]), LastUsedAt: Now},
		})
		same(t, grant(t, stores[0], id).Uses, racers+1)
	}
}

// testDecisionRace checks that of several decisions one counts, and only its grant exists.
func testDecisionRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	for round := range 5 {
		id := fmt.Sprint("q", round)
		ok(t, stores[0].PutGrantRequest(t.Context(), requested(id)))
		name := func(racer int) string { return fmt.Sprint("g", round, "-", racer) }
		winners := race(t, stores, store.ErrExists, func(s store.Store, racer int) error {
			if racer == 0 {
				return s.DecideGrantRequest(t.Context(), id, nil, nil, Now, Now)
			}
			g := granted(name(racer))
			return s.DecideGrantRequest(t.Context(), id, &g, []byte("code of "+g.ID), Now.Add(time.Minute), Now)
		})
		same(t, len(winners), 1)
		decided, err := stores[0].GrantRequest(t.Context(), id, Now)
		ok(t, err)
		for racer := range racers {
			_, err := stores[0].Grant(t.Context(), name(racer))
			approved := racer == winners[0] && racer != 0
			same(t, err == nil, approved)
			same(t, decided.GrantID == name(racer), approved)
		}
	}
}

// testRedeemRace checks that of several concurrent uses of a code one gets a token. The others prove that the code
// was copied, and the grant is revoked.
func testRedeemRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	for round := range 5 {
		id := fmt.Sprint(round)
		ok(t, stores[0].PutGrantRequest(t.Context(), requested(id)))
		g := granted(id)
		ok(t, stores[0].DecideGrantRequest(t.Context(), id, &g, []byte("code "+id), Now.Add(time.Minute), Now))
		token := func(racer int) []byte { return fmt.Appendf(nil, "token %s-%d", id, racer) }
		winners := race(t, stores, store.ErrExists, func(s store.Store, racer int) error {
			_, err := s.RedeemCode(t.Context(), []byte("code "+id), token(racer), accept, Now)
			return err
		})
		same(t, len(winners), 1)
		for racer := range racers {
			_, err := stores[0].GrantByToken(t.Context(), token(racer))
			same(t, err == nil, slices.Contains(winners, racer))
		}
		same(t, grant(t, stores[0], id).RevokedAt, &Now)
	}
}
