package connectorkit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Setup is what a connector uses to prepare a run.
type Setup struct {
	// Log writes to stderr, without the values of secret variables.
	Log *slog.Logger

	r       *runstate.Run
	p       Process
	closers *runnerlink.CloserStack
}

// Env returns a variable that the manifest declares, or the owner's answer for it in this run. Any other name
// returns "".
func (s *Setup) Env(name string) string {
	if !slices.Contains(s.r.Declared, name) {
		s.Log.Error("variable is not declared in the manifest", "name", name)
		return ""
	}
	return s.r.DeclaredVariable(name)
}

// HTTP returns a client for the connector's provider. It includes everything: the pace adapts and is remembered
// between runs, refusals and failures are retried, and an unavailable provider is not used for a while. Use
// adjust if the provider documents its limit; the owner's variables take precedence.
//
// All clients share the pace of the provider with the connector's key. A client of another service needs
// Options.Sender from Setup.Sender.
func (s *Setup) HTTP(o governhttp.Options, adjust ...func(*governor.Config)) (*governhttp.Client, error) {
	if o.Sender == nil {
		o.Sender = s.Sender("", adjust...)
	}
	if s.r.Knobs.AttemptTimeout > 0 {
		o.Timeout = s.r.Knobs.AttemptTimeout
	}
	if o.Now == nil {
		o.Now = s.r.Now
	}
	if o.Transport == nil {
		o.Transport = s.p.Transport
	}
	if o.Unreached == nil {
		o.Unreached = s.r.ReportUnreached
	}
	if o.Answered == nil && s.r.Drift.Answers != nil {
		o.Answered = s.r.Drift.CompareAnswer
	}
	return governhttp.New(o)
}

// CompareAnswer compares a response of another protocol than HTTP with what the connector expects, by the names of its
// parts: "FETCH/UID" is a part of "FETCH". The command must be in the sheet under that protocol, for example
// "IMAP EXAMINE".
func (s *Setup) CompareAnswer(protocol, command string, names []string) {
	s.r.Drift.CompareNames(protocol, command, names)
}

// CompareCount compares an approximate count of the provider with the number of listed items. A difference is only
// shown. An exact count belongs in Total of an InventoryPage or Listed of a Page.
func (s *Setup) CompareCount(stream, route, member string, announced, counted int64) {
	s.r.Drift.CompareNumber(stream, route, member, announced, counted)
}

// Sender returns the request path to a provider over any transport: mail commands, pages in a browser. Each name
// has one in a run, and an empty name means the connector's key. Call it in Open; the first call's adjustments
// count.
func (s *Setup) Sender(provider string, adjust ...func(*governor.Config)) *governhttp.Sender {
	return s.r.ProviderFor(provider, adjust).Sender
}

// Binding returns the descriptor of a binding in START. It returns false if this run does not have it.
func (s *Setup) Binding(name string) (jsontext.Value, bool) {
	v, ok := s.r.Start.Bindings[name]
	return v, ok
}

// Stored returns the bookmark of a PagedStream of an earlier run, for a collector that needs what another one
// remembers.
func (s *Setup) Stored(stream string) Cursor {
	return readCursor(s.r.StoredBookmark(stream, protocol.SteadyState))
}

// FullRefresh reports whether the run starts over although records may be stored.
func (s *Setup) FullRefresh() bool { return s.r.Start.CollectionMode == protocol.FullRefresh }

// Now returns the time of the run's clock.
func (s *Setup) Now() time.Time { return s.r.Now() }

// HasBookmark reports whether an earlier run left a bookmark of the stream.
func (s *Setup) HasBookmark(stream string) bool {
	return s.r.StoredBookmark(stream, protocol.SteadyState).Kind() == '{'
}

// Trigger returns what started this run: manual, scheduled, retry. Empty means unknown.
func (s *Setup) Trigger() string { return s.r.Env("PDPP_RUN_TRIGGER_KIND") }

// HideSecret removes a secret of this run, such as an access token, from the log, and from records and reports if it
// has the length of a token.
func (s *Setup) HideSecret(secret string) { s.r.HideSecret(secret) }

// AtEnd calls f when the run is over, after DONE, in every case. The last registered function is called first.
// All share the three seconds in which a finished process must exit, so f must respect its context.
func (s *Setup) AtEnd(f func(ctx context.Context)) { s.closers.AddCloser(f) }

// Transport replaces the network, for a recorder or a replayer. Nil means the network.
func (s *Setup) Transport() http.RoundTripper { return s.p.Transport }

// Interact asks the owner and blocks until the answer arrives. The kit sets RequestID. The result contains the
// text members of the answer. Nothing else is written to the runner while the question is open.
func (s *Setup) Interact(ctx context.Context, q protocol.Interaction) (map[string]string, error) {
	return s.r.AskOwner(ctx, q)
}

// Key returns the connector's key, the prefix of its own failure codes.
func (s *Setup) Key() string { return s.r.Manifest.Key() }

// Tag returns a digest of a text under the secret of this source, for comparison without revealing the text.
// Without such a secret the connection's name separates sources.
func (s *Setup) Tag(text string) string {
	key := s.r.Env("PDPP_SOURCE_KEY")
	if key == "" {
		key = s.r.Env("PDPP_CONNECTOR_INSTANCE_ID")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// partVariables are read by parts of the kit, without a declaration in the manifest.
var partVariables = []string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS", "PDPP_CAPTURE_FIXTURES"}

// PartEnv returns a variable of a part of the kit. Any other name returns "".
func (s *Setup) PartEnv(name string) string {
	if !slices.Contains(partVariables, name) {
		return ""
	}
	return s.r.Env(name)
}
