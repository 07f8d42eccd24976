package bluesky

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
)

// TestSessionRunsOut shows that the connector signs in again once when the session expires during a run. The server
// reports this with status 400 and an error name in the body.
func TestSessionRunsOut(t *testing.T) {
	t.Parallel()
	signIns, refused := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch method := strings.TrimPrefix(r.URL.Path, "/xrpc/"); {
		case method == "com.atproto.server.createSession":
			signIns++
			_, _ = io.WriteString(w, `{"did":"did:plc:mara","handle":"mara.test","accessJwt":"token `+strings.Repeat("i",
				signIns)+`"}`)
		case method == "com.atproto.repo.listRecords" && r.Header.Get("Authorization") != "Bearer token ii":
			refused++
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"ExpiredToken","message":"Token has expired"}`)
		case method == "com.atproto.repo.listRecords" && r.URL.Query().Get("collection") == "app.bsky.feed.like":
			_, _ = io.WriteString(w, `{"records":[{"uri":"at://did:plc:mara/app.bsky.feed.like/3k","cid":"bafy",`+
				`"value":{"subject":{"uri":"at://did:plc:b/c/d"}}}]}`)
		case method == "com.atproto.repo.listRecords":
			_, _ = io.WriteString(w, `{"records":[]}`)
		case method == "com.atproto.repo.getRecord":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"RecordNotFound"}`)
		case method == "com.atproto.sync.listBlobs":
			_, _ = io.WriteString(w, `{"cids":[]}`)
		default:
			_, _ = io.WriteString(w, `{"rev":"3k2"}`)
		}
	}))
	t.Cleanup(server.Close)
	kept := inprocess.NewMemoryRunner(t, Connector(), map[string]string{
		"BLUESKY_SERVER": server.URL, "BLUESKY_HANDLE": "@mara.test", "BLUESKY_APP_PASSWORD": "x",
		"PDPP_BLUESKY_PACING_INITIAL_INTERVAL_MS": "1", "PDPP_BLUESKY_PACING_MIN_INTERVAL_MS": "0.1",
	}).Run()
	if signIns != 2 || refused != 1 || len(kept.Records["likes"]) != 1 || len(kept.Records["profile"]) != 1 {
		t.Errorf("%d sign-ins, %d refused, %v", signIns, refused, kept.Records)
	}
}

// TestSessionStaysAtHome shows where a session may go.
func TestSessionStaysAtHome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, endpoint, want string }{
		{defaultEntryway, "https://morel.us-east.host.bsky.network", "https://morel.us-east.host.bsky.network"},
		{defaultEntryway, "http://morel.us-east.host.bsky.network", defaultEntryway},
		{defaultEntryway, "https://evil.example/.host.bsky.network", defaultEntryway},
		{defaultEntryway, "https://host.bsky.network.evil.example", defaultEntryway},
		{defaultEntryway, "://", defaultEntryway},
		{"https://pds.harbour.example", "https://morel.us-east.host.bsky.network", "https://pds.harbour.example"},
	} {
		given, err := url.Parse(c.server)
		if err != nil {
			t.Fatal(err)
		}
		if got := originOf((&blueskyAccount{server: given}).dataHostURL(c.endpoint)); got != c.want {
			t.Errorf("%s, sent to %s: %s", c.server, c.endpoint, got)
		}
	}
}

// TestFilesAreWhatTheirNamesPromise holds digests against names that the server's library made.
func TestFilesAreWhatTheirNamesPromise(t *testing.T) {
	t.Parallel()
	sum := func(text string) string {
		digest := sha256.Sum256([]byte(text))
		return hex.EncodeToString(digest[:])
	}
	const hello = "bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq"
	for _, c := range []struct {
		id, content string
		want        bool
	}{{hello, "hello", true}, {hello, "hell", false}, {hello, "<html>", false}, {"bafybeibsomethingelse", "hello", true}} {
		if got := matchesContentID(c.id, sum(c.content)); got != c.want {
			t.Errorf("%q as %s: %v", c.content, c.id, got)
		}
	}
}

// FuzzRecords reads what any program may have written into a repository.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"text":"x","embed":{"$type":"app.bsky.embed.recordWithMedia",` +
		`"media":{"images":[{"image":{"ref":{"$link":"b"},"size":-1}}]},"record":{"record":{"uri":"at://a/b/c"}}}}`))
	f.Add([]byte(`{"subject":"did:plc:a","createdAt":"yesterday","facets":[{"features":[{}]}],"avatar":{"cid":"old",` +
		`"mimeType":"image/png"}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		e := repositoryEntry{URI: "at://did:plc:mara/c/3k", CID: "bafy", Value: value}
		for _, read := range []func(repositoryEntry) (any, error){postRecordOf, reactionRecordOf, followRecordOf,
			listRecordOf, listItemRecordOf} {
			if thing := listItemOf(e, read); thing.Key != "3k" {
				t.Errorf("the key became %q", thing.Key)
			}
		}
	})
}
