package connectorkit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// Setup is what a connector gets to prepare a run.
type Setup struct {
	// Log writes to stderr. Values of secret variables are redacted in it.
	Log *slog.Logger

	r *run
}

// Env reads a variable that the manifest declares, or what the owner answered
// for it in this run. Any other name reads as empty.
func (s *Setup) Env(name string) string {
	if !slices.Contains(s.r.declared, name) {
		s.Log.Error("variable is not declared in the manifest", "name", name)
		return ""
	}
	return s.r.variable(name)
}

// HTTP makes a client through which the connector reaches its provider. The
// options alone give everything: the pace adapts and is remembered from run to
// run, refusals and failures are repeated, an unwell provider is left alone.
// Adjustments are for a provider whose documentation says better than that; the
// owner's variables win over them.
//
// All clients share the pace of the one provider that bears the connector's
// key. A client of another service gets Options.Sender from Setup.Sender.
func (s *Setup) HTTP(o governhttp.Options, adjust ...func(*governor.Config)) (*governhttp.Client, error) {
	if o.Sender == nil {
		o.Sender = s.Sender("", adjust...)
	}
	if s.r.knobs.timeout > 0 {
		o.Timeout = s.r.knobs.timeout
	}
	if o.Now == nil {
		o.Now = s.r.p.Now
	}
	if o.Transport == nil {
		o.Transport = s.r.p.Transport
	}
	if o.Unreached == nil {
		o.Unreached = s.r.unreached
	}
	if o.Answered == nil && s.r.drift.compared != nil {
		o.Answered = s.r.drift.answered
	}
	return governhttp.New(o)
}

// Answered compares an answer of a provider that speaks another protocol than HTTP with what the connector knows, by
// the names of what the answer consists of: "FETCH/UID" is a part of "FETCH". The command must be in the sheet under
// that protocol, as in "IMAP EXAMINE".
func (s *Setup) Answered(protocol, command string, names []string) {
	if d := s.r.drift; d.compared != nil {
		d.compared.Names(*d.reading.Load(), protocol, command, names)
	}
}

// Counted compares a number that the provider sends with how many things were listed of it, where the provider does not
// promise that the number is exact: a difference is shown and decides nothing. An exact number belongs in Total of an
// InventoryPage or Listed of a Page.
func (s *Setup) Counted(stream, route, member string, announced, counted int64) {
	s.r.drift.compareNumber(stream, number{route, member}, announced, counted)
}

// Sender is the request path to a provider over any transport: mail commands,
// pages in a browser. Each name has one in a run, and an empty name is the
// connector's key. It belongs into Open; the first call's adjustments count.
func (s *Setup) Sender(provider string, adjust ...func(*governor.Config)) *governhttp.Sender {
	return s.r.provider(provider, adjust).sender
}

// Binding gives what START says about a binding; false when this run does not have it.
func (s *Setup) Binding(name string) (jsontext.Value, bool) {
	v, ok := s.r.start.Bindings[name]
	return v, ok
}

// Stored returns the bookmark of a stream as an earlier run of a flat stream left it. It is for a collector that
// needs what another one remembers.
func (s *Setup) Stored(stream string) Cursor {
	return cursorOf(s.r.stored(stream, protocol.SteadyState))
}

// FullRefresh reports whether the run begins anew although something may be stored.
func (s *Setup) FullRefresh() bool { return s.r.start.CollectionMode == protocol.FullRefresh }

// Now reads the run's clock.
func (s *Setup) Now() time.Time { return s.r.p.Now() }

// Begun reports whether an earlier run left a bookmark of the stream.
func (s *Setup) Begun(stream string) bool {
	return s.r.stored(stream, protocol.SteadyState).Kind() == '{'
}

// Trigger is what began this run: manual, scheduled, retry. Empty when nobody says.
func (s *Setup) Trigger() string { return s.r.p.Env("PDPP_RUN_TRIGGER_KIND") }

// Hide keeps a secret that came up in this run, such as an access token, out of the log.
func (s *Setup) Hide(secret string) { s.r.secrets.hide(secret) }

// AtEnd has f called when the run is over, after DONE, however it ended. What was
// registered last is called first; all of it shares the three seconds within which a
// finished process is gone, so that f keeps to its context.
func (s *Setup) AtEnd(f func(ctx context.Context)) { s.r.closers.add(f) }

// Transport carries requests in place of the network, for a recorder or a replayer; nil
// means the network.
func (s *Setup) Transport() http.RoundTripper { return s.r.p.Transport }

var (
	// ErrNotInteractive means that nobody can be asked in this run.
	ErrNotInteractive = errors.New("this run has no interactive binding")
	// ErrNotAnswered means that the owner refused or let the question expire.
	ErrNotAnswered = errors.New("the owner did not answer")
)

// Interact asks the owner and blocks until the answer comes. RequestID is set
// by the kit. The answer holds the text members of what the owner gave. Nothing
// else is written to the runner while the question is open.
func (s *Setup) Interact(ctx context.Context, q protocol.Interaction) (map[string]string, error) {
	return s.r.interact(ctx, q)
}

func (r *run) interact(ctx context.Context, q protocol.Interaction) (map[string]string, error) {
	if _, ok := r.start.Bindings["interactive"]; !ok {
		return nil, ErrNotInteractive
	}
	m, err := r.ask(ctx, protocol.TypeInteractionResponse, func(id string) protocol.Message {
		q.RequestID = id
		return &q
	})
	if err != nil {
		return nil, err
	}
	answer := m.(*protocol.InteractionResponse)
	if answer.Status != protocol.ResponseSuccess {
		return nil, ErrNotAnswered
	}
	values := map[string]string{}
	var data map[string]any
	if json.Unmarshal(answer.Data, &data) == nil {
		for name, v := range data {
			if text, ok := v.(string); ok {
				values[name] = text
			}
		}
	}
	return values, nil
}

// ask sends a request and waits for its answer. It holds the output, so that
// nothing is written meanwhile and requests cannot cross.
func (r *run) ask(ctx context.Context, want protocol.MessageType, request func(id string) protocol.Message) (protocol.Message, error) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	return r.peer.ask(ctx, want, func(id string) error {
		if err := r.out.sendLocked(ctx, request(id)); err != nil {
			return err
		}
		return r.out.flushLocked(ctx)
	})
}

// Key is the connector's key, with which the codes of its own failures begin.
func (s *Setup) Key() string { return s.r.c.Manifest.Key() }

// Tag makes of a text something that can be compared and not read: its digest under the
// secret of this source. Without such a secret the connection's name keeps sources apart.
func (s *Setup) Tag(text string) string {
	key := s.r.p.Env("PDPP_SOURCE_KEY")
	if key == "" {
		key = s.r.p.Env("PDPP_CONNECTOR_INSTANCE_ID")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// partVariables are for parts of the kit that a connector may use, whatever it declares.
var partVariables = []string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS", "PDPP_CAPTURE_FIXTURES"}

// PartEnv reads a variable that is for a part of the kit. Any other name reads as empty.
func (s *Setup) PartEnv(name string) string {
	if !slices.Contains(partVariables, name) {
		return ""
	}
	return s.r.p.Env(name)
}
