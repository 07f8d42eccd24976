// Package bluesky collects what a person has written to their account on Bluesky, or on any
// other server of the AT Protocol: profile, posts, reposts, likes, follows, blocks, lists, pictures
// and videos.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	bluesky.go      newCollectors: environment in, client and collectors out
//	session.go      signing in, and requests under the session
//	records.go      a collection of the repository as an inventory
//	media.go        pictures and videos
//	profile.go      who the account is
//	post.go, map.go how one record of the repository becomes one of ours
//	classify.go     what an answer means
package bluesky

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Bluesky connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

// defaultEntryway is where accounts of Bluesky itself sign in. Their data is on another host, which the
// answer to the sign-in names.
const defaultEntryway = "https://bsky.social"

func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	a, err := newAccount(s, s.Env("BLUESKY_SERVER"), s.Env("BLUESKY_HANDLE"), s.Env("BLUESKY_APP_PASSWORD"))
	if err != nil {
		return nil, err
	}
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: a.server.Host + " " + a.identifier}); err != nil {
		return nil, err
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "profile", Page: a.profilePage},
		a.repositoryCollector("posts", "app.bsky.feed.post", postRecordOf),
		a.repositoryCollector("reposts", "app.bsky.feed.repost", reactionRecordOf),
		a.repositoryCollector("likes", "app.bsky.feed.like", reactionRecordOf),
		a.repositoryCollector("follows", "app.bsky.graph.follow", followRecordOf),
		a.repositoryCollector("blocks", "app.bsky.graph.block", followRecordOf),
		a.repositoryCollector("lists", "app.bsky.graph.list", listRecordOf),
		a.repositoryCollector("list_items", "app.bsky.graph.listitem", listItemRecordOf),
		connectorkit.PagedStream{Stream: "media", Page: (&mediaCollector{blueskyAccount: a}).fetchNextPage},
	}, nil
}
