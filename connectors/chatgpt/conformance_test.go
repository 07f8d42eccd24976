//pdpp:tier programs

package chatgpt_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

var person = signin.Person.ID

// account is a small account with several list pages. Its conversations are served one by one.
var account = chatgpt.Config{Seed: 5, Chats: 64, Projects: 7, Memories: 9, GPTs: 13, Shares: 15, MaxPage: 12,
	NoBatch: http.StatusNotFound}

func target(t *testing.T, cfg chatgpt.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: played(t),
		Start: func(t *testing.T) *connectortest.Sim {
			s, _ := start(t, cfg)
			return s
		},
		Changes: []providersim.Mutation{
			{Op: "touch_chats", N: 5}, {Op: "add_chats", N: 3}, {Op: "archive_chats", N: 2}, {Op: "move_chats", N: 3},
			{Op: "add_memories", N: 2},
			{Op: "add_gpts", N: 1}, {Op: "add_shares", N: 2}, {Op: "edit_instructions", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete_memories", N: 2}, DeletedStream: chatgpt.StreamMemories,
		Lane: lane, Scoped: chatgpt.StreamMemories, OptionalField: "updated_at",
	}
}

// TestConformance runs the whole suite, conversation by conversation.
func TestConformance(t *testing.T) { connectortest.Run(t, target(t, account)) }

// TestBatches collects ten conversations at a time. The site leaves some out, which are then
// asked for one by one.
//
//pdpp:tier unraced
func TestBatches(t *testing.T) {
	t.Parallel()
	cfg := account
	cfg.NoBatch, cfg.OmitEvery = 0, 9
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Succeed(t)
	b.VerifyComplete(t)
	asked := b.Sim.Gate.Stats().ByPattern
	if n := asked["POST /backend-api/conversations/batch"]; n > 8 {
		t.Errorf("%d calls for 64 conversations", n)
	}
	if n := asked["GET /backend-api/conversation/{id}"]; n != 8 {
		t.Errorf("%d conversations were asked for alone, want the 8 that were left out", n)
	}
	for _, m := range b.Target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestCaps holds the owner's caps on batches: items count, not calls.
func TestCaps(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-16.2", "RT-16.4", "RT-17.1", "RT-17.2", "RT-19.1", "RT-19.3", "RT-19.4"} {
		t.Attr("spec", id)
	}
	cfg := account
	cfg.NoBatch = 0
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Env["PDPP_CHATGPT_MAX_DETAIL_FETCHES_PER_RUN"] = "14"
	b.Env["PDPP_CHATGPT_MAX_TAIL_DEFERRAL_GAPS_PER_RUN"] = "9"
	for run := 1; ; run++ {
		seen := map[string]bool{}
		for _, g := range b.Gaps(t, "") {
			seen[g.ID] = true
		}
		before := hydrated(t, b)
		b.Succeed(t)
		if n := hydrated(t, b) - before; n > 14 {
			t.Fatalf("run %d brought %d conversations under a cap of 14", run, n)
		}
		written := 0
		for _, g := range b.Gaps(t, "") {
			if !seen[g.ID] {
				written++
			}
			if g.Status == protocol.GapPending && (g.Reason.SourcePressure() || g.Reason != protocol.ReasonRetryExhausted) {
				t.Fatalf("gap %s has reason %s", g.RecordKey, g.Reason)
			}
		}
		if written > 10 {
			t.Fatalf("run %d wrote %d gaps under a chunk of 9", run, written)
		}
		b.Verify(t)
		b.Clock += 24 * 60 * 60 * 1e9
		if len(b.Gaps(t, protocol.GapPending)) == 0 {
			b.VerifyComplete(t)
			return
		}
		if run > 20 {
			t.Fatal("the history did not drain in 20 runs")
		}
	}
}

// hydrated counts the conversations that have stored messages.
func hydrated(t *testing.T, b *connectortest.Harness) int {
	t.Helper()
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, chatgpt.StreamMessages)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]bool{}
	for _, r := range stored {
		of[lane.Item([]byte(r.Data))] = true
	}
	return len(of)
}

// TestArchiveThenLive collects an export, then the site: nothing is there twice, and what the
// export had is not asked for again. A run with both asks for nothing that the file has.
func TestArchiveThenLive(t *testing.T) {
	t.Parallel()
	cfg := account
	cfg.NoBatch = 0
	b := connectortest.NewHarness(t, target(t, cfg))
	g := b.Sim.Provider.(*chatgpt.ChatGPT)
	site := b.Sim.Env["PDPP_CHATGPT_BASE_URL"]
	b.Env["PDPP_CHATGPT_BASE_URL"], b.Env["PDPP_CHATGPT_EXPORT_PATH"] = "", unpacked(chatgpt.OneFile)(t, g)
	b.Succeed(t)
	if n := b.Sim.Gate.Stats().Requests; n != 0 {
		t.Fatalf("an export took %d requests", n)
	}
	b.Env["PDPP_CHATGPT_BASE_URL"], b.Env["PDPP_CHATGPT_EXPORT_PATH"] = site, ""
	for _, m := range b.Target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	changed := 5 + 3 + 2 + 3 // at most: some change twice
	if n := batched(b); n > changed/10+1 {
		t.Errorf("%d batches for %d changed conversations", n, changed)
	}
	conversations, err := connectortest.StoredRecords(t.Context(), b.Store, chatgpt.StreamConversations)
	if err != nil {
		t.Fatal(err)
	}
	truth := g.Truth()
	for key := range conversations {
		if _, real := truth[chatgpt.StreamConversations][key]; !real {
			t.Errorf("conversation %s is invented", key)
		}
	}
	if len(conversations) != len(truth[chatgpt.StreamConversations]) || hydrated(t, b) != len(conversations) {
		t.Errorf("%d conversations, %d with messages, want %d", len(conversations), hydrated(t, b),
			len(truth[chatgpt.StreamConversations]))
	}

	both := connectortest.NewHarness(t, target(t, cfg))
	other := both.Sim.Provider.(*chatgpt.ChatGPT)
	both.Env["PDPP_CHATGPT_EXPORT_PATH"] = zipped(chatgpt.Parts)(t, other)
	both.Sim.MutateData(t, providersim.Mutation{Op: "touch_chats", N: 3})
	both.Succeed(t)
	both.VerifyComplete(t)
	if n := batched(both) + both.Sim.Gate.Stats().ByPattern["GET /backend-api/conversation/{id}"]; n > 3 {
		t.Errorf("%d requests for three conversations that the export has not", n)
	}
}

// TestArchiveClosesGaps leaves most conversations as gaps and then adds two exports. Every gap is closed from the
// files under the same keys without a request to the site, nothing is stored twice, and each message names its file.
// Newer versions on the site win over the files.
func TestArchiveClosesGaps(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, account))
	g := b.Sim.Provider.(*chatgpt.ChatGPT)
	b.Env["PDPP_CHATGPT_MAX_DETAIL_FETCHES_PER_RUN"] = "3"
	b.Succeed(t)
	left := len(b.Gaps(t, protocol.GapPending))
	if left < 5 {
		t.Fatalf("only %d gaps are left", left)
	}
	dir := t.TempDir()
	writeZip(t, g, filepath.Join(dir, "old.zip"), chatgpt.OneFile)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "old.zip"), old, old); err != nil {
		t.Fatal(err)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "touch_chats", N: 4})
	writeZip(t, g, filepath.Join(dir, "new.zip"), chatgpt.Parts)
	b.Sim.MutateData(t, providersim.Mutation{Op: "add_chats", N: 2})
	single := func() int { return b.Sim.Gate.Stats().ByPattern["GET /backend-api/conversation/{id}"] }
	b.Env["PDPP_CHATGPT_EXPORT_PATH"] = dir
	delete(b.Env, "PDPP_CHATGPT_MAX_DETAIL_FETCHES_PER_RUN")
	before := single()
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := single() - before; n > 2 {
		t.Errorf("%d conversations were asked for, of which the exports lack two", n)
	}
	if open := b.Gaps(t, protocol.GapPending); len(open) > 0 {
		t.Errorf("%d gaps are open still", len(open))
	}
	receipts, err := b.Store.Imports(t.Context(), connectortest.Connection)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]store.Import{}
	for _, i := range receipts {
		found[i.Path] = i
	}
	if found["new.zip"].New == 0 || len(found) == 0 {
		t.Errorf("receipts are %+v", receipts)
	}
	messages := b.NewestChange(t, chatgpt.StreamMessages)
	delete(b.Env, "PDPP_CHATGPT_EXPORT_PATH") // and the other way round: live again, which changes nothing
	b.Succeed(t)
	if after := b.NewestChange(t, chatgpt.StreamMessages); after != messages {
		t.Errorf("messages moved from %d to %d although nothing changed", messages, after)
	}
	b.VerifyComplete(t)
}

func batched(b *connectortest.Harness) int {
	return b.Sim.Gate.Stats().ByPattern["POST /backend-api/conversations/batch"]
}

// TestSessions expires tokens, ends the session and raises a robot check during a run. The token is renewed, the
// ended session asks for a sign-in, and the robot check asks for a person with a neutral message.
func TestSessions(t *testing.T) {
	t.Parallel()
	t.Run("tokens run out", func(t *testing.T) {
		t.Parallel()
		b := connectortest.NewHarness(t, target(t, account))
		site := b.Sim.Provider.(*chatgpt.ChatGPT).Site()
		seen := 0
		r := b.Run(t, launch.RunRequest{Options: runner.Options{BatchRecords: 20, Observe: func(runner.Update) {
			if seen++; seen%4 == 0 && seen < 20 {
				if _, err := site.Do(signin.Order{ExpireBearers: true}); err != nil {
					t.Error(err)
				}
			}
		}}})
		if r.Status != runner.Succeeded {
			t.Fatalf("ended as %s: %v", r.Status, r.Failure)
		}
		b.VerifyComplete(t)
		if n := site.State().Count.Bearers; n < 2 {
			t.Errorf("%d tokens were made: none ran out", n)
		}
	})
	for name, c := range map[string]struct {
		order signin.Order
		code  string
		hint  protocol.RecoveryAction
	}{
		"signed out": {signin.Order{SignOut: true}, "auth_failure", protocol.RefreshCredentials},
		"wall":       {signin.Order{Wall: signin.WallUp}, "chatgpt_challenge", protocol.ManualActionRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := connectortest.NewHarness(t, target(t, account))
			g := b.Sim.Provider.(*chatgpt.ChatGPT)
			b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: "/backend-api/conversation/", DelayMS: 5})
			done := false
			result := b.Run(t, launch.RunRequest{Options: runner.Options{BatchRecords: 20, Observe: func(u runner.Update) {
				if !done && u.Committed > 60 {
					done = true
					if _, err := g.Site().Do(c.order); err != nil {
						t.Error(err)
					}
				}
			}}})
			if e := result.DoneError; result.Status != runner.Failed || e == nil || e.Code != c.code ||
				e.RecoveryHint.Action != c.hint {
				t.Fatalf("ended as %s: %+v", result.Status, e)
			}
			walled := g.Site().State().Count.Walled
			if name == "wall" && walled != 1 {
				t.Errorf("%d requests met the wall, want one", walled)
			}
			for _, gap := range b.Gaps(t, protocol.GapPending) {
				if name == "wall" && gap.Reason != protocol.ReasonUpstreamPressure {
					t.Errorf("gap %s has reason %s", gap.RecordKey, gap.Reason)
				}
			}
			b.VerifyNothingInvented(t)
		})
	}
}

// TestMovingLists changes the account while its lists are read, again and again. What was there
// before and stayed is collected in every run; the run after the last change brings everything.
func TestMovingLists(t *testing.T) {
	t.Parallel()
	cfg := account
	cfg.Chats, cfg.MaxPage, cfg.NoBatch, cfg.Deep, cfg.DeepFails = 120, 10, 0, 30, 2
	b := connectortest.NewHarness(t, target(t, cfg))
	ops := []string{"touch_chats", "delete_chats", "archive_chats", "move_chats", "add_chats", "linger_chats",
		"touch_chats", "delete_chats"}
	n := 0
	for range 3 {
		b.Run(t, launch.RunRequest{Options: runner.Options{BatchRecords: 10, Observe: func(runner.Update) {
			if n++; n%3 == 0 && n < 60 {
				b.Sim.MutateData(t, providersim.Mutation{Op: ops[n/3%len(ops)], N: 1 + n%3})
			}
		}}})
		b.Clock += 24 * 60 * 60 * 1e9
	}
	b.Succeed(t)
	truth := b.Sim.Provider.Truth()
	for _, stream := range []string{chatgpt.StreamConversations, chatgpt.StreamMessages} {
		stored, err := connectortest.StoredRecords(t.Context(), b.Store, stream)
		if err != nil {
			t.Fatal(err)
		}
		for key := range truth[stream] {
			if r, have := stored[key]; !have || r.Deleted {
				t.Errorf("%s %s exists and is not stored", stream, key)
			}
		}
	}
}

// TestGone deletes a conversation that stays in the list. Its detail call reports it as deleted, and so does the
// store. Its messages are kept, because messages are append-only.
func TestGone(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{0, http.StatusForbidden} {
		cfg := account
		cfg.NoBatch = batch
		b := connectortest.NewHarness(t, target(t, cfg))
		b.Succeed(t)
		gone, err := b.Sim.Provider.Mutate(providersim.Mutation{Op: "linger_chats", N: 2})
		if err != nil {
			t.Fatal(err)
		}
		b.Succeed(t)
		stored, err := connectortest.StoredRecords(t.Context(), b.Store, chatgpt.StreamConversations)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range gone.IDs {
			if r, have := stored[key]; !have || !r.Deleted {
				t.Errorf("conversation %s is gone at the site and %s here", key, r.Data)
			}
		}
		if n := len(b.Gaps(t, protocol.GapTerminal)); n != 2 {
			t.Errorf("%d final gaps, want 2", n)
		}
		asked := b.Sim.Gate.Stats().Requests
		b.Succeed(t)
		if n := b.Sim.Gate.Stats().ByPattern["GET /backend-api/conversation/{id}"]; b.Sim.Gate.Stats().Requests-asked > 30 {
			t.Errorf("what is gone is asked for again: %d details", n)
		}
	}
}
