//pdpp:tier programs

package mastodon_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/mastodon"
)

const token = "token_under_test"

// small is an account for most tests.
func small() mastodon.Config {
	return mastodon.Config{Seed: 5, Token: token, Statuses: 13, Marks: 6, Links: 5, MaxPage: 4, Hidden: 3, Rate: 1 << 20}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Statuses, large.Marks, large.Links, large.MaxPage = 90, 30, 40, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const (
	postMembers = "id uri url created_at edited_at content visibility sensitive spoiler_text language in_reply_to_id " +
		"in_reply_to_account_id author=account.acct author_name=account.display_name media=media_attachments.*.url " +
		"media_descriptions=media_attachments.*.description tags=tags.*.name mentions=mentions.*.acct " +
		"boosted_url=reblog.url boosted_author=reblog.account.acct boosted_content=reblog.content " +
		"poll_options=poll.options.*.title card_url=card.url card_title=card.title quoted_url=quote.quoted_status.url"
	accountMembers = "id acct username display_name note url uri bot created_at"
)

func target(t *testing.T, cfg mastodon.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "mastodon"), Credential: "MASTODON_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return mastodon.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"MASTODON_TOKEN": token, "MASTODON_URL": base + "/"}
			}),
		Changes: []providersim.Mutation{{Op: "add_statuses", N: 3}, {Op: "change_statuses", N: 2},
			{Op: "add_bookmarks", N: 2}, {Op: "delete_favourites", N: 1}, {Op: "add_following", N: 1},
			{Op: "delete_followers", N: 1}, {Op: "change_followers", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_statuses", N: 2}, DeletedStream: mastodon.StreamStatuses,
		Scoped: mastodon.StreamStatuses, OptionalField: "content",
		Stored: connectortest.RecordMembers{mastodon.StreamStatuses: postMembers, mastodon.StreamBookmarks: postMembers,
			mastodon.StreamFavourites: postMembers, mastodon.StreamFollowing: accountMembers,
			mastodon.StreamFollowers: accountMembers}.Stored,
	}
}

// A token without the scope is not a bad token: the owner learns what to tick.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "tick read") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// A refusal names no time. The run waits until the five minutes of the headers end, and then reads the rest.
func TestFiveMinutes(t *testing.T) {
	t.Parallel()
	began, cfg := sync.OnceValue(time.Now), small()
	cfg.Rate = 10
	cfg.Now = func() time.Time { // they end soon after the first request
		return time.Date(2026, 5, 6, 13, 54, 58, 0, time.UTC).Add(time.Since(began()))
	}
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := b.Sim.Gate.Stats().Requests; n > 15 {
		t.Errorf("%d requests, of which 14 are needed", n)
	}
}
