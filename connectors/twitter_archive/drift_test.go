package twitterarchive_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	twitterarchive "github.com/pdpp-go/pdpp/connectors/twitter_archive"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), twitterarchive.Connector())
}

// TestDriftNumbers has a manifest that counts more elements than the files hold.
func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), twitterarchive.Connector(),
		providersim.Drifted{Raise: []string{"dataTypes/*/files/[]/count"}, Total: 7})
}

// TestCounts compares in every form of an archive. Counts are texts or numbers; a manifest of another form and one of
// another folder count nothing.
func TestCounts(t *testing.T) {
	const two = `window.YTD.like.part0 = [{"like":{"tweetId":"1"}},{"like":{"tweetId":"2"}}]`
	for manifest, want := range map[string]int64{
		`{"dataTypes":{"like":{"files":[{"fileName":"data/like.js","count":"3"}]}}}`:  1,
		`{"dataTypes":{"like":{"files":[{"fileName":"data/like.js","count":3}]}}}`:    1,
		`{"dataTypes":{"like":{"files":[{"fileName":"data/like.js","count":"2"}]}}}`:  0,
		`{"dataTypes":{"like":{"files":[{"fileName":"data/like.js"}]}}}`:              0,
		`{"dataTypes":{"like":{"files":[{"fileName":"data/mute.js","count":"3"}]}}}`:  0,
		`{"dataTypes":[{"like":{"files":[{"fileName":"data/like.js","count":"3"}]}}]`: 0,
		`nothing`: 0,
	} {
		files := []archivetest.PackedFile{{Name: "a/data/like.js", Content: two},
			{Name: "a/data/manifest.js", Content: "window.__THAR_CONFIG = " + manifest},
			{Name: "manifest.js", Content: `{"dataTypes":{"like":{"files":[{"fileName":"like.js","count":"9"}]}}}`}}
		for form, packed := range map[string][]byte{"a.zip": archivetest.PackZip(t, files...),
			"a.tgz": archivetest.PackTarGzip(t, files...), "": nil} {
			dir := t.TempDir()
			if packed == nil {
				archivetest.WriteUnpacked(t, dir, files...)
			} else {
				archivetest.WriteFile(t, dir+"/"+form, packed)
			}
			k := inprocess.NewMemoryRunner(t, twitterarchive.Connector(), map[string]string{"TWITTER_ARCHIVE_DIR": dir})
			var more int64
			k.Observe = func(m protocol.Message) {
				if p, ok := m.(*protocol.Progress); ok && p.AnswerDrift != nil && p.Stream == "likes" {
					for _, d := range p.AnswerDrift.Differences {
						if d.Kind == protocol.OtherTotal {
							more += d.Count
						}
					}
				}
			}
			k.Run()
			if len(k.Keys("likes")) != 2 || more != want {
				t.Errorf("%q %s: %d likes, %d counts are higher, want %d", form, manifest, len(k.Keys("likes")), more, want)
			}
		}
	}
}
