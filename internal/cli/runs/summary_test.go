package runs

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestMissingLines(t *testing.T) {
	got := missingDataLines([]runner.KnownGap{
		{Kind: protocol.KnownDetailGap, Stream: "photos", Count: 2, Reason: "rate_limited", Message: "Busy.\x1b[31m"},
		{Kind: protocol.KnownSkipResult, Stream: "entries", Reason: "gone"},
		{Kind: protocol.KnownRunFailed, Message: "told elsewhere"},
		{Kind: protocol.KnownCheckpointCommit, Reason: "checkpoint_commit_failed"},
	})
	want := []string{
		"photos (2 items): Busy. [31m",
		"entries: The service says this item no longer exists.",
		protocol.OwnerCopy("", ""),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}
