package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func testTargets(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.PushTarget {
		t.Helper()
		all, err := s.Targets(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	fails(t, s.DeleteTarget(ctx, "a"), store.ErrNotFound)
	later := Now.Add(time.Hour)
	b := store.PushTarget{ID: "b", Kind: store.TargetWebPush, Label: "Phone", Endpoint: "https://push.example/1",
		P256DH: "p", Auth: "a", CreatedAt: Now}
	a := store.PushTarget{ID: "a", Kind: store.TargetWebhook, Endpoint: "https://hook.example/", Sealed: []byte{0, 0xff},
		CreatedAt: Now}
	first := store.PushTarget{ID: "z", Kind: store.TargetNtfy, Endpoint: "https://ntfy.example/x",
		CreatedAt: Now.Add(-time.Second)}
	for _, target := range []store.PushTarget{b, a, first} {
		ok(t, s.PutTarget(ctx, target))
	}
	same(t, listed(), []store.PushTarget{first, a, b})

	taken := store.PushTarget{ID: "new", Endpoint: b.Endpoint, CreatedAt: Now}
	fails(t, s.PutTarget(ctx, taken), store.ErrExists)
	taken.ID = "a"
	fails(t, s.PutTarget(ctx, taken), store.ErrExists)
	same(t, listed(), []store.PushTarget{first, a, b})

	b = store.PushTarget{ID: "b", Kind: store.TargetWebhook, Label: "Old phone", Endpoint: "https://push.example/2",
		P256DH: "p2", Auth: "a2", Sealed: []byte("s"),
		CreatedAt: later, Failures: 3, LastSuccessAt: &Now, LastFailureAt: &later, LastFailure: "gone", RetiredAt: &later}
	ok(t, s.PutTarget(ctx, b))
	b.CreatedAt = Now // the first one counts
	same(t, listed(), []store.PushTarget{first, a, b})
	ok(t, s.DeleteTarget(ctx, "a"))
	same(t, listed(), []store.PushTarget{first, b})
}

func testSettings(t *testing.T, s store.Store) {
	ctx := t.Context()
	read := func(name string) string {
		t.Helper()
		value, err := s.Setting(ctx, name)
		ok(t, err)
		return string(value)
	}
	_, err := s.Setting(ctx, "a")
	fails(t, err, store.ErrNotFound)
	ok(t, s.PutSetting(ctx, "a", []byte{0, 0xff}, Now))
	ok(t, s.PutSetting(ctx, "empty", nil, Now))
	same(t, read("a"), "\x00\xff")
	same(t, read("empty"), "")
	ok(t, s.PutSetting(ctx, "a", []byte("second"), Now.Add(time.Hour)))
	same(t, read("a"), "second")

	for _, try := range []string{"first", "again"} {
		value, err := s.InitSetting(ctx, "once", []byte(try), Now)
		ok(t, err)
		same(t, string(value), "first")
	}
	value, err := s.InitSetting(ctx, "a", []byte("third"), Now)
	ok(t, err)
	same(t, string(value), "second")
}

// testSettingRace checks that processes that start at the same time get the same value.
func testSettingRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	for round := range 4 {
		name := fmt.Sprint("setting-", round)
		values := make([][]byte, 6)
		var wg sync.WaitGroup
		for i := range values {
			wg.Go(func() {
				var err error
				if values[i], err = stores[i%len(stores)].InitSetting(t.Context(), name, fmt.Append(nil, i), Now); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		counts, err := stores[0].Setting(t.Context(), name)
		ok(t, err)
		for _, v := range values {
			same(t, string(v), string(counts))
		}
	}
}
