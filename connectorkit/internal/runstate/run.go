// Package runstate is what every collector of a run shares: the scope, the emission of records, bookmarks, pace,
// quotas, caps, gaps of lists and messages to the runner.
package runstate

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/driftwatch"
	"github.com/pdpp-go/pdpp/connectorkit/internal/ownersettings"
	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/connectorkit/internal/secretmask"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// Run is one run in progress.
type Run struct {
	Manifest *manifest.Manifest
	Env      func(string) string
	Now      func() time.Time
	validate func(stream string, record map[string]any) error
	Start    *protocol.Start
	Out      *runnerlink.LineOutput
	peer     *runnerlink.RunnerPeer
	Log      *slog.Logger
	Secrets  *runnerlink.LogRedactor
	Known    *secretmask.KnownSecrets
	Declared []string
	answered map[string]string // credentials that the owner entered in this run
	Scope    map[string]*StreamScope

	Knobs     ownersettings.OwnerTuning
	Providers []*RunProvider // in order of creation
	Bookmarks RunBookmarks
	rests     int                         // open circuits waited for
	sent      atomic.Int64                // requests to all providers, including retries
	busy      atomic.Pointer[RunProvider] // the provider that was used last

	trees      *recordcheck.RecordDecoder
	encoding   []byte                  // buffer for a record
	picked     map[string]any          // buffer for its key, resource and time
	splitter   *protocol.Decoder       // splits an encoded record into its members
	quick      map[string]*gate.Schema // by stream; none if the connector validates differently
	Masks      *secretmask.Masker      // nil: texts are not masked
	caps       ownersettings.RunCaps
	Budget     governor.RunBudget
	Tail       *GapTail
	progress   progressThrottle
	reports    int            // mismatch reports sent
	unreported map[string]int // mismatches beyond the limit of reports, by stream

	shared sharedQuotas
	Drift  *driftwatch.DriftWatch

	Lists map[string]protocol.GapEntry // served gaps of lists that are not settled, by list
}

// RunSettings are what a run starts with.
type RunSettings struct {
	Manifest *manifest.Manifest
	Env      func(string) string
	Now      func() time.Time
	Validate func(stream string, record map[string]any) error
	Quick    map[string]*gate.Schema // by stream; none if the connector validates differently
	Drift    *driftwatch.DriftWatch
	Start    *protocol.Start
	Out      *runnerlink.LineOutput
	Peer     *runnerlink.RunnerPeer
	Log      *slog.Logger
	Secrets  *runnerlink.LogRedactor
	Known    *secretmask.KnownSecrets
}

// New returns the state of a run that has started.
func New(s RunSettings) *Run {
	caps := ownersettings.ReadRunCaps(s.Env, s.Manifest.EnvPrefix())
	r := &Run{
		Manifest:  s.Manifest,
		Env:       s.Env,
		Now:       s.Now,
		validate:  s.Validate,
		Start:     s.Start,
		Out:       s.Out,
		peer:      s.Peer,
		Log:       s.Log,
		Secrets:   s.Secrets,
		Known:     s.Known,
		Declared:  s.Manifest.EnvNames(),
		answered:  map[string]string{},
		Scope:     map[string]*StreamScope{},
		Knobs:     ownersettings.ReadOwnerTuning(s.Env, s.Manifest.EnvPrefix(), caps, s.Log),
		Bookmarks: newBookmarks(),
		trees:     recordcheck.NewRecordDecoder(),
		quick:     s.Quick,
		splitter:  protocol.NewDecoder(protocol.FromConnector),
		picked:    map[string]any{},
		caps:      caps,
		Budget: governor.RunBudget{
			Requests:  caps.Fetches,
			WallClock: caps.WholeRun,
			Began:     s.Now(),
			Details:   caps.WallClock,
		},
		Tail:       newGapTail(caps),
		Drift:      s.Drift,
		unreported: map[string]int{},
		Lists:      map[string]protocol.GapEntry{},
		shared:     sharedQuotas{now: s.Now},
	}
	if s.Start.CollectionMode != protocol.FullRefresh {
		for stream, mark := range s.Start.State {
			_, r.Bookmarks.compared[stream] = protocol.SplitCompared(mark)
		}
	}
	s.Peer.HandleShares(r.shared.receiveShare)
	return r
}

// HideSecret removes a credential from the log, and from records and reports if it has the length of a token.
func (r *Run) HideSecret(secret string) {
	r.Secrets.HideSecret(secret)
	r.Known.Add(secret)
}

// ClassifyFailure classifies the error of a collector or of Open.
func (r *Run) ClassifyFailure(err error) *failure.RunFailure {
	var f *failure.RunFailure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, failure.ErrNotInteractive), errors.Is(err, failure.ErrNotAnswered):
		return &failure.RunFailure{Cause: err, Verdict: failure.Verdict{
			Code: "interaction_unanswered", Message: "the connector needs an answer from the owner and got none",
			Hint: protocol.ManualActionRequired,
		}}
	default:
		e := failure.ClassifyError(err)
		_, session := r.Start.Bindings["browser"]
		return &failure.RunFailure{Cause: err, Verdict: failure.OwnerVerdict(e, r.Manifest.Key(), session),
			Whole: e.Class == failure.Unauthorized || e.Class == failure.Challenge}
	}
}

// AskOwner asks the owner and blocks until the answer arrives.
func (r *Run) AskOwner(ctx context.Context, q protocol.Interaction) (map[string]string, error) {
	if _, ok := r.Start.Bindings["interactive"]; !ok {
		return nil, failure.ErrNotInteractive
	}
	m, err := r.RequestReply(ctx, protocol.TypeInteractionResponse, func(id string) protocol.Message {
		q.RequestID = id
		return &q
	})
	if err != nil {
		return nil, err
	}
	answer := m.(*protocol.InteractionResponse)
	if answer.Status != protocol.ResponseSuccess {
		return nil, failure.ErrNotAnswered
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

// RequestReply sends a request and waits for its reply. It holds the output, so that nothing is written in the meantime
// and requests cannot overlap.
func (r *Run) RequestReply(
	ctx context.Context,
	want protocol.MessageType,
	request func(id string) protocol.Message,
) (protocol.Message, error) {
	return r.Out.RequestReply(ctx, r.peer, want, request)
}
