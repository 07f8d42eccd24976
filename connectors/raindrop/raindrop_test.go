//pdpp:tier programs

package raindrop_test

import (
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/raindrop"
)

const token = "token_under_test"

// small is an account for most tests.
func small() raindrop.Config {
	return raindrop.Config{Seed: 5, Token: token, Bookmarks: 14, Collections: 5, Highlights: 6, MaxPage: 4, Rate: 1 << 20}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Bookmarks, large.Collections, large.Highlights, large.MaxPage = 120, 12, 40, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg raindrop.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "raindrop"), Credential: "RAINDROP_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return raindrop.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"RAINDROP_TOKEN": token, "PDPP_RAINDROP_BASE_URL": base + "/rest/v1"}
			}),
		Changes: []providersim.Mutation{{Op: "add_bookmarks", N: 3}, {Op: "late_bookmarks", N: 1},
			{Op: "change_bookmarks", N: 2}, {Op: "add_collections", N: 3}, {Op: "change_collections", N: 1},
			{Op: "delete_highlights", N: 1}, {Op: "add_highlights", N: 2}},
		Deletion: providersim.Mutation{Op: "trash", N: 2}, DeletedStream: raindrop.StreamBookmarks,
		Scoped: raindrop.StreamBookmarks, OptionalField: "title",
		Stored: connectortest.RecordMembers{
			raindrop.StreamCollections: "id=#_id title parent_id=#parent.$id count public expanded sort view color created " +
				"access_level=access.level last_update=lastUpdate",
			raindrop.StreamBookmarks: "id=#_id title link excerpt note domain type tags collection_id=#collection.$id cover " +
				"media=media.*.link important broken created last_update=lastUpdate file_name=file.name file_size=file.size " +
				"file_type=file.type copy_status=cache.status creator_id=#creatorRef._id creator_name=creatorRef.fullName " +
				"remind_at=reminder.data",
			raindrop.StreamHighlights: "id=_id text note color title link tags bookmark_id=#raindropRef created",
		}.Stored,
	}
}

// A bookmark in the trash is deleted, with its highlights, and comes back when it is restored.
func TestTrash(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	for _, op := range []string{"trash", "restore"} {
		b.Sim.MutateData(t, providersim.Mutation{Op: op, N: 9})
		b.Succeed(t)
		b.VerifyComplete(t)
	}
}

// A refusal names no time. The run waits until the minute of the headers ends, and then reads the rest.
func TestMinute(t *testing.T) {
	t.Parallel()
	began, cfg := sync.OnceValue(time.Now), small()
	cfg.Rate = 8
	cfg.Now = func() time.Time { // the minute ends soon after the first request
		return time.Date(2026, 5, 6, 13, 52, 58, 0, time.UTC).Add(time.Since(began()))
	}
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := b.Sim.Gate.Stats().Requests; n > 13 {
		t.Errorf("%d requests, of which 12 are needed", n)
	}
}

// An item without a readable key is declared and not stored. Raindrop's keys are called _id.
func TestUnreadableKey(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.WrongType, Path: "/", Field: "_id"})
	if r := b.Succeed(t); len(r.KnownGaps) == 0 {
		t.Error("nothing is declared")
	}
	b.VerifyNothingInvented(t)
	b.Sim.Gate.Clear()
	b.Run(t, launch.RunRequest{Mode: protocol.FullRefresh})
	b.VerifyComplete(t)
}
