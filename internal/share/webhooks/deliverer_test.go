package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Changes arrive in batches and in their order, signed, and deletions as the feed shows them.
func TestDeliver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(note("n1", 1, "pears", "x"), note("n2", 2, "boots", "y"), note("n3", 3, "ferry", "z"), letter("l1", "hello"))
		w.add(store.Webhook{Batch: 2})
		w.pass()
		first := w.received[0]
		same(t, first.verified(secretPrefix+"c2VjcmV0IG9mIGEgdGVzdA=="), []string{"true"})
		same(t, w.took(), []string{"letters: l1", "notes: n1 n2", "notes: n3"})
		w.pass()
		w.put(gone("notes", "n2"), note("n1", 1, "more pears", "x"))
		w.pass()
		same(t, w.took(), []string{"notes: -n2 n1"})
		if got := w.all()[0]; got.Deliveries != 4 || got.LastSuccessAt == nil {
			t.Errorf("%+v", got)
		}
	})
}

// verified reports for each secret whether a signature is made with it, and fails for a signature of another one.
func (m delivery) verified(all ...string) (valid []string) {
	signatures := strings.Fields(m.header.Get("webhook-signature"))
	for _, secret := range all {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(m.header.Get("webhook-id") + "." + m.header.Get("webhook-timestamp") + "." + m.body))
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		valid = append(valid, fmt.Sprint(slices.Contains(signatures, want)))
		signatures = slices.DeleteFunc(signatures, func(s string) bool { return s == want })
	}
	return append(valid, signatures...)
}

// A replaced secret signs beside the new one until the overlap ends, or no more when it must end at once. A delivery
// that is repeated has the same id under a new secret.
func TestSecretIsReplaced(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"))
		w.add(store.Webhook{})
		all := []string{secretPrefix + "c2VjcmV0IG9mIGEgdGVzdA=="}
		rotate := func(atOnce bool) {
			t.Helper()
			hook := w.all()[0]
			secret, sealed, err := Rotate(w.d.Key, hook, atOnce, w.now)
			check(t, err)
			check(t, st.SetWebhookSecret(t.Context(), hook.ID, hook.Sealed, sealed))
			all = append(all, secret)
		}
		next := func() delivery {
			t.Helper()
			w.put(letter("l1", fmt.Sprint(len(all), w.now)))
			w.pass()
			m := w.received[len(w.received)-1]
			w.took()
			return m
		}
		w.answer = func(delivery) int { return http.StatusServiceUnavailable }
		w.pass()
		rotate(false)
		w.answer, w.now = nil, w.now.Add(time.Minute)
		w.pass()
		first, again := w.received[0], w.received[1]
		if first.header.Get(HeaderID) != again.header.Get(HeaderID) {
			t.Error("a repeated delivery has another id")
		}
		same(t, first.verified(all...), []string{"true", "false"})
		same(t, again.verified(all...), []string{"true", "true"})
		w.now = w.now.Add(Overlap)
		same(t, next().verified(all...), []string{"false", "true"})
		rotate(false)
		same(t, next().verified(all...), []string{"false", "true", "true"})
		rotate(true)
		same(t, next().verified(all...), []string{"false", "false", "false", "true"})
	})
}

// Nothing outside a grant is delivered, and nothing after it ended.
func TestGrantLimitsDeliveries(t *testing.T) {
	t.Parallel()
	since, until := noon.AddDate(0, -2, -10), noon.AddDate(0, -1, -10)
	for name, c := range map[string]struct {
		scope grants.Stream
		want  []string
	}{
		"fields":    {grants.Stream{Stream: "notes", Fields: []string{"id", "title"}}, []string{"notes: n1 n2 n3"}},
		"window":    {grants.Stream{Stream: "notes", Since: &since, Until: &until}, []string{"notes: n2"}},
		"resources": {grants.Stream{Stream: "notes", Resources: []string{"n2"}}, []string{"notes: n2"}},
		"stream":    {grants.Stream{Stream: "letters"}, []string{"letters: l1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, st store.Store) {
				w := newWorld(t, st)
				w.put(note("n1", 1, "pears", "zebra"), note("n2", 2, "boots", "quokka"), note("n3", 3, "ferry", "ibex"),
					letter("l1", "axolotl"))
				scope := c.scope
				scope.ConnectionID = "mine"
				g, _, err := w.grants.Create(t.Context(), grants.New{ClientName: "Reader", Purpose: "reading",
					Scope: []grants.Stream{scope}})
				check(t, err)
				w.add(store.Webhook{GrantID: g.ID, Batch: 100})
				w.pass()
				for _, m := range w.received {
					hidden := map[string][]string{"fields": {"zebra", "quokka", "ibex", "private", "axolotl"},
						"window": {"zebra", "ibex", "axolotl"}, "resources": {"zebra", "ibex", "axolotl"},
						"stream": {"zebra", "quokka", "pears"}}[name]
					for _, word := range hidden {
						if strings.Contains(m.body, word) {
							t.Errorf("%q was delivered: %s", word, m.body)
						}
					}
				}
				same(t, w.took(), c.want)
				read, err := st.Grant(t.Context(), g.ID)
				check(t, err)
				if read.Records == 0 {
					t.Error("the delivery was not counted as a read")
				}
				check(t, w.grants.Revoke(t.Context(), g.ID))
				w.put(note("n2", 2, "other boots", "quokka"), letter("l1", "other"))
				w.pass()
				same(t, w.took(), nil)
				if got := w.all()[0]; got.PauseReason != store.WebhookGrantOver {
					t.Errorf("%+v", got.WebhookState)
				}
			})
		})
	}
}

// An address that refuses a delivery gets the others. The refused one is listed and can be delivered again.
func TestRefusedDelivery(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"), letter("l2", "b"), letter("l3", "c"))
		id := w.add(store.Webhook{})
		w.answer = func(m delivery) int {
			if m.ids() == "l2" {
				return http.StatusUnprocessableEntity
			}
			return 0
		}
		for range refusals {
			w.pass()
			w.now = w.now.Add(time.Minute)
		}
		first := w.received[1].header.Get(HeaderID)
		if again := w.received[2].header.Get(HeaderID); first != again {
			t.Errorf("a repeated delivery has the id %s, and had %s", again, first)
		}
		same(t, w.took(), []string{"letters: l1", "letters: l2", "letters: l2", "letters: l2", "letters: l2", "letters: l2",
			"letters: l3"})
		hook := w.all()[0]
		if len(hook.Letters) != 1 || hook.Letters[0].Reason != "http_422" || hook.Letters[0].Changes != 1 ||
			hook.Failures != 0 {
			t.Fatalf("%+v", hook)
		}
		w.answer = nil
		l := hook.Letters[0]
		check(t, st.RewindWebhook(t.Context(), id, l.Stream, l.Cursor, l.ID))
		w.pass()
		if id := w.received[0].header.Get(HeaderID); id == first {
			t.Error("a replayed delivery has the id of the first")
		}
		same(t, w.took(), []string{"letters: l2", "letters: l3"})
	})
}

// Failures are repeated later and later, and an address that fails for days or is gone gets nothing until the owner
// resumes it. A redirect is not followed.
func TestFailures(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"))
		w.add(store.Webhook{})
		w.answer = func(delivery) int { return http.StatusTemporaryRedirect }
		w.pass()
		w.pass() // too early
		same(t, w.took(), []string{"letters: l1"})
		if got := w.all()[0]; got.LastFailure != "http_307" || got.Failures != 1 ||
			!got.NextAt.Equal(w.now.Add(time.Second)) {
			t.Errorf("%+v", got.WebhookState)
		}
		for range 100 {
			w.now = w.now.Add(time.Hour)
			w.pass()
		}
		got := w.all()[0]
		if n := len(w.took()); n != 73 || got.PauseReason != store.WebhookRefused {
			t.Errorf("%d attempts, %+v", n, got.WebhookState)
		}
		w.answer = func(delivery) int { return http.StatusGone }
		check(t, st.SetWebhookState(t.Context(), got.ID, "", store.WebhookState{}))
		w.pass()
		if got := w.all()[0]; got.PauseReason != store.WebhookGone {
			t.Errorf("%+v", got.WebhookState)
		}
	})
}

// A stream whose records were deleted for good begins again, after a message that reports it.
func TestReset(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"), letter("l2", "b"))
		w.add(store.Webhook{Batch: 9})
		w.pass()
		w.answer = func(delivery) int { return http.StatusServiceUnavailable }
		check(t, st.RequestDeletion(t.Context(), store.Deletion{ID: "del", AskedAt: w.now, PurgeAfter: w.now,
			DeletionScope: store.DeletionScope{Kind: store.DeleteRecord, ConnectionID: "mine", Stream: "letters", Key: "l1"}}))
		w.pass()
		for idle := false; !idle; {
			var err error
			idle, err = st.AdvanceDeletion(t.Context(), w.now.Add(time.Minute))
			check(t, err)
		}
		w.took()
		w.answer, w.now = nil, w.now.Add(time.Minute)
		w.pass()
		if m := w.received[0]; m.Type != typeReset {
			t.Errorf("message %s", m.body)
		}
		w.took()
		w.pass()
		same(t, w.took(), []string{"letters: l2"})
	})
}

// Addresses of this machine and of private networks are refused, by their number when they are added and by what a
// name leads to when they are dialled.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]bool{ // without and with the owner's permission
		"https://ledger.example/in": {true, true}, "http://ledger.example/in": {false, true},
		"https://127.0.0.1/": {false, true}, "https://[::1]/": {false, true}, "https://10.0.0.1:8080/": {false, true},
		"http://192.168.1.5/": {false, true}, "http://93.184.216.34/": {false, false}, "https://93.184.216.34/": {true, true},
		"https://169.254.169.254/": {false, false}, "https://[fd00:ec2::254]/": {false, false},
		"https://0.0.0.0/":            {false, false},
		"https://ann@ledger.example/": {false, false}, "ftp://ledger.example/": {false, false}, "ledger": {false, false},
		"https://[::ffff:127.0.0.1]/": {false, true},
	} {
		if got := [2]bool{CheckAddress(address, false) == nil, CheckAddress(address, true) == nil}; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"))
		_, port, _ := strings.Cut(strings.TrimPrefix(w.to, "http://"), ":")
		w.add(store.Webhook{Address: "https://localhost:" + port + "/"})
		w.pass()
		if got := w.all()[0]; got.LastFailure != "forbidden_address" || len(w.received) > 0 {
			t.Errorf("%+v", got.WebhookState)
		}
	})
}

// Two processes never deliver at the same time, and the second continues where the first one ended.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(letter("l1", "a"))
		w.add(store.Webhook{})
		w.pass()
		w.put(letter("l2", "b"))
		other := newDeliverer(t.Context(), t, st, w.grants, w.d.Now)
		other.Key, other.Holder = w.d.Key, "there"
		first := w.d
		w.d = other
		w.pass()
		same(t, w.took(), []string{"letters: l1"})
		w.now = w.now.Add(time.Minute)
		w.pass()
		same(t, w.took(), []string{"letters: l2"})
		w.d = first
		w.pass()
		w.now = w.now.Add(time.Minute)
		w.pass()
		same(t, w.took(), nil)
	})
}
