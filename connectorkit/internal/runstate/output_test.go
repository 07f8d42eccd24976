package runstate

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// TestOpenQuestionHoldsUpNoRequest announces a wait while the owner is being
// asked: nothing is written, and the request goes on.
func TestOpenQuestionHoldsUpNoRequest(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	r := &Run{Out: runnerlink.NewLineOutput(&written, nil, func(error) {})}
	peer := runnerlink.NewRunnerPeer(strings.NewReader(""), func(error) {})
	_, err := r.Out.RequestReply(t.Context(), peer, protocol.TypeInteractionResponse, func(string) protocol.Message {
		r.announceWait(t.Context(), governhttp.Wait{Source: governhttp.Retry, For: time.Minute})
		return &protocol.Interaction{Message: strings.Repeat("x", protocol.DefaultMaxLine)}
	})
	if !errors.Is(err, runnerlink.ErrLineTooLong) {
		t.Fatal(err)
	}
	r.announceWait(t.Context(), governhttp.Wait{Source: governhttp.Retry, For: 2 * time.Minute})
	if err := r.Out.FinishOutput(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if message := written.String(); strings.Contains(message, "60 s") || !strings.Contains(message, "waiting 120 s") {
		t.Errorf("reported %q", message)
	}
}
