package slack_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/slack"
)

// Each round changes the workspace before a run, after which everything is as it is there.
func TestRounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg    slack.Config
		rounds [][]providersim.Mutation
	}{
		// Only its absence shows that the person left a conversation: it is deleted from the list, its messages stay as
		// they were, and the others go on.
		"left": {slack.Config{Seed: 3, Channels: 5, Messages: 4, Files: 1},
			[][]providersim.Mutation{nil, {{Op: "leave", N: 1}, {Op: "say", N: 2}}}},
		// A reply to a thread with a first message older than the days that are read again arrives with the next run.
		"reply to an old thread": {slack.Config{Seed: 7, Channels: 2, Messages: 60, MaxPage: 6},
			[][]providersim.Mutation{nil, {{Op: "reply_old", N: 3}}, {{Op: "reply_old", N: 3}}}},
		// A cursor that Slack does not know any more costs a request: the history goes on from the last message that
		// was read, and nothing of it is lost or deleted.
		"expired cursor": {slack.Config{Seed: 8, Channels: 2, Users: 2, Messages: 30, MaxPage: 5},
			[][]providersim.Mutation{{{Op: "expire", N: 2}}, {{Op: "expire", N: 2}}}},
		// Nothing newer shows that the newest message of a conversation was deleted.
		"newest message deleted": {slack.Config{Seed: 11, Channels: 2, Users: 2, Messages: 12},
			[][]providersim.Mutation{nil, {{Op: "delete_newest", N: 2}}}},
		// A message without its last reply is no thread any more: nothing but the missing numbers of its thread shows it.
		"last reply deleted": {slack.Config{Seed: 10, Channels: 2, Users: 2, Messages: 12},
			[][]providersim.Mutation{nil, {{Op: "delete_thread", N: 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := connectortest.NewHarness(t, target(t, c.cfg))
			for _, round := range c.rounds {
				for _, m := range round {
					b.Sim.MutateData(t, m)
				}
				b.Succeed(t)
				b.VerifyComplete(t)
			}
		})
	}
}

// Threads that may not be read for a while are missing and not deleted: what is stored of them stays, and they are read
// when they may be.
func TestSealedThreads(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, slack.Config{Seed: 4, Channels: 3, Messages: 12, Files: 1}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "reply", N: 6})
	b.Succeed(t)
	b.VerifyComplete(t)
	fresh, err := b.Sim.Provider.Mutate(providersim.Mutation{Op: "reply", N: 12})
	if err != nil {
		t.Fatal(err)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "seal", N: 1})
	sealed := b.Run(t, launch.RunRequest{})
	differ, err := b.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ {
		if _, ts, _ := strings.Cut(d.Key, ":"); !d.Lost || !slices.Contains(fresh.IDs, ts) {
			t.Errorf("an old message: %v", d)
		}
	}
	if !slices.ContainsFunc(sealed.KnownGaps, func(g runner.KnownGap) bool { return g.Stream == slack.StreamMessages }) {
		t.Errorf("nothing is declared missing: %+v", sealed.KnownGaps)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "unseal", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A limit on histories that outlasts the run ends it well: what was read stays, and a later run goes on within the same
// conversation.
func TestMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := connectortest.NewHarness(t,
		target(t, slack.Config{Seed: 2, Channels: 2, Messages: 30, MaxPage: 5, Files: 1,
			Now: func() time.Time { return now }}))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/api/conversations.history", Skip: 4,
		RetryAfter: providersim.RetrySeconds, Seconds: 3600})
	b.Succeed(t)
	first := b.NewestChange(t, slack.StreamMessages)
	if first == 0 {
		t.Error("nothing of the history is stored")
	}
	b.Verify(t)
	b.Sim.Gate.Clear()
	b.Clock += 2 * time.Hour
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A missing permission of the app has its own message and is not a bad token.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, slack.Config{Seed: 1, Channels: 1, Messages: 1}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "narrow", N: 1})
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || e.Code == "auth_failure" ||
		!strings.Contains(e.Message, "User Token Scopes") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// An answer without the token's owner ends the run. Nothing is stored under an account without a name, and what
// is known of the right one stays.
func TestNamelessToken(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, slack.Config{Seed: 9, Channels: 2, Users: 2, Messages: 3}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "nameless", N: 1})
	if r := b.Run(t, launch.RunRequest{}); r.Status != runner.Failed || b.NewestChange(t, slack.StreamMessages) != 0 ||
		b.NewestChange(t, slack.StreamChannels) != 0 {
		t.Errorf("a run without an identity: %s, messages up to %d", r.Status, b.NewestChange(t, slack.StreamMessages))
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "named", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
}
