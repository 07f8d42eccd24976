// Package twitterarchive imports the archive that Twitter, now X, offers its users: posts, direct
// messages, likes, followers, and conversations with Grok.
//
//	tweets.go   a post
//	notes.go    the whole text of a long post
//	grok.go     a message of a conversation with Grok
//	counts.go   the archive's own counts
//	leftout.go  what an archive holds besides
//	messages.go a direct message
//	people.go   a like, a follower, an account that is followed
package twitterarchive

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Twitter archives.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	one := &archiveReader{compare: s.CompareCount}
	return []connectorkit.Collector{localarchive.Import{
		Dir: s.Env("TWITTER_ARCHIVE_DIR"), Streams: []string{"tweets", "direct_messages", "likes", "people", "grok_messages"},
		Kinds: []localarchive.MemberKind{
			{Name: "tweets", Patterns: []string{"**/tweets.js", "**/tweets-part*.js", "**/tweet.js", "**/tweet-part*.js"},
				Streams: []string{"tweets"}, Reason: "posts", Read: one.readTweets(tweetKindPost)},
			{Name: "community_tweets", Patterns: []string{"**/community-tweet.js", "**/community-tweet-part*.js"},
				Streams: []string{"tweets"}, Reason: "posts to communities", Read: one.readTweets(kindCommunity)},
			{Name: "deleted_tweets", Patterns: []string{"**/deleted-tweets.js", "**/deleted-tweets-part*.js"},
				Streams: []string{"tweets"}, Reason: "posts that were deleted", Read: one.readTweets(kindDeleted)},
			{Name: "long_tweets", Patterns: []string{"**/note-tweet.js", "**/note-tweet-part*.js"}, Streams: []string{"tweets"},
				Reason: "the whole texts of long posts", Read: one.readOrphanedLongPosts},
			{Name: "grok", Patterns: []string{"**/grok-chat-item.js", "**/grok-chat-item-part*.js"},
				Streams: []string{"grok_messages"}, Reason: "conversations with Grok", Read: one.readGrokConversations},
			{Name: "direct_messages", Patterns: []string{
				"**/direct-messages.js", "**/direct-messages-part*.js", "**/direct-message.js", "**/direct-message-part*.js",
				"**/direct-messages-group.js", "**/direct-messages-group-part*.js", "**/direct-message-group.js",
				"**/direct-message-group-part*.js",
			}, Streams: []string{"direct_messages"}, Reason: "direct messages", Read: readMessages},
			{Name: "likes", Patterns: []string{"**/data/like.js", "**/data/like-part*.js", "like.js", "like-part*.js"},
				Streams: []string{"likes"}, Reason: "posts that were liked", Read: one.readLikesFile},
			{Name: "people", Patterns: []string{
				"**/data/follower.js", "**/data/follower-part*.js", "**/data/following.js", "**/data/following-part*.js",
				"follower.js", "follower-part*.js", "following.js", "following-part*.js",
				"**/data/block.js", "**/data/block-part*.js", "**/data/mute.js", "**/data/mute-part*.js", "block.js",
				"block-part*.js", "mute.js", "mute-part*.js",
			}, Streams: []string{"people"}, Reason: "followers", Read: one.readPeople},
		},
		LeftOut: uncollectedFiles, Packaging: packagingFiles,
		Known: []string{"**/data/manifest.js", "**/Your archive.html"},
		Empty: "the folder holds no Twitter archive; put the zip that you got from Twitter into it",
		// Pictures and films of posts are members too.
		Limits: localarchive.ArchiveLimits{Entries: 2_000_000, Entry: 8 << 30, Total: 64 << 30},
	}.Source().Collector()}, nil
}

// htmlUnescaper is a text as it was written: the archive escapes these three characters.
var htmlUnescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// parseExportTime parses a time in either format of an archive; empty when it is invalid.
func parseExportTime(text string) string {
	for _, layout := range []string{time.RFC3339Nano, time.RubyDate, "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(layout, text); err == nil && at.UTC().Year() > 0 && at.UTC().Year() < 10000 {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}
