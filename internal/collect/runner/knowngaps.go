package runner

import (
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxKnownGaps bounds the list that a run leaves behind. Durable gaps are in
// the store one by one; this list is their summary.
const maxKnownGaps = 200

const maxKnownText = 200

// gapTally counts the gaps of one stream and reason.
type gapTally struct {
	stream, reason, class string
}

func (s *session) countGap(m *protocol.DetailGap) {
	class := ""
	if m.Detail != nil {
		class = m.Detail.Class
	}
	key := gapTally{m.Stream, string(m.Reason), class}
	if s.tally == nil {
		s.tally = map[gapTally]int64{}
	}
	if _, known := s.tally[key]; known || len(s.tally) < maxKnownGaps {
		s.tally[key]++
	}
}

// lastError fans the classification out: the class goes to last_error as well,
// where owner surfaces read it; a message stays where it was.
func lastError(m *protocol.DetailGap) jsontext.Value {
	out := map[string]any{}
	if m.LastError != nil {
		_ = json.Unmarshal(m.LastError, &out) // the decoder has proven it an object
	}
	if d := m.Detail; d != nil {
		if _, has := out["class"]; !has && d.Class != "" {
			out["class"] = d.Class
		}
		if _, has := out["http_status"]; !has && d.HTTPStatus != 0 {
			out["http_status"] = d.HTTPStatus
		}
	}
	if len(out) == 0 {
		return nil
	}
	raw, _ := json.Marshal(out, json.Deterministic(true))
	return raw
}

func (s *session) knownSkip(m *protocol.SkipResult, st *stream) KnownGap {
	r := s.redactor.Load()
	g := KnownGap{
		Kind: protocol.KnownSkipResult, Reason: r.Line(string(m.Reason), maxKnownText), Stream: m.Stream,
		Diagnostics: sanitize(r, m.Diagnostics), Continuation: m.Continuation,
	}
	if c := m.Continuation; c != nil {
		c.Boundary = r.Line(c.Boundary, maxKnownText)
	}
	if m.Message != nil {
		g.Message = r.Line(*m.Message, maxKnownText)
	}
	if m.RecoveryHint != nil {
		g.RecoveryHint = *m.RecoveryHint
	} else {
		g.RecoveryHint = protocol.RecoveryHint{Action: inferAction(g.Reason + " " + g.Message)}
	}
	g.Severity = skipSeverity(m, g.RecoveryHint.Action, st != nil && len(s.spec.Scope) > 0)
	return g
}

// skipSeverity says how a declared skip counts: what the owner asked for by name is
// theirs to know about; what passes by itself is transient.
func skipSeverity(m *protocol.SkipResult, action protocol.RecoveryAction, requested bool) protocol.KnownGapSeverity {
	switch {
	case slices.Contains(protocol.InformationalReasons, m.Reason) && !requested:
		return protocol.SeverityInformational
	case slices.Contains(protocol.InformationalReasons, m.Reason):
		return protocol.SeverityActionable
	case m.Reason.Transient(), action == protocol.RetryByRuntime:
		return protocol.SeverityTransient
	default:
		return protocol.SeverityActionable
	}
}

// lasting orders skips by how little a further run does about them.
type lasting int

const (
	passing  lasting = iota // a retry is expected to fix it
	unclear                 // nobody says what would
	standing                // no retry fixes it
)

// lastingOf goes by the action. Where it is only inferred, a reason that is known
// to pass outranks it.
func lastingOf(m *protocol.SkipResult, hint protocol.RecoveryHint) lasting {
	switch {
	case m.RecoveryHint == nil && m.Reason.Transient(), hint.Action == protocol.RetryByRuntime:
		return passing
	case hint.Action != protocol.UnknownRecovery && hint.Action != "":
		return standing
	case hint.Retryable != nil && *hint.Retryable:
		return passing
	default:
		return unclear
	}
}

// family is a recovery action and the words that speak for it.
type family struct {
	words  *regexp.Regexp
	action protocol.RecoveryAction
}

// actionFamilies infer a recovery action from words when the connector gives no
// hint. The first family that matches wins.
var actionFamilies = sync.OnceValue(func() []family {
	return []family{
		{regexp.MustCompile(`(?i)captcha|challenge|human|verify`), protocol.ManualActionRequired},
		{regexp.MustCompile(`(?i)credential|login|token|auth|password|session`), protocol.RefreshCredentials},
		{regexp.MustCompile(`(?i)rate|429|time[d_ -]*out|\b5\d\d\b|network|retry`), protocol.RetryByRuntime},
		{regexp.MustCompile(`(?i)template|pars|schema|version|unsupported`), protocol.RetryOnConnectorUpgrade},
		{regexp.MustCompile(`(?i)selector|dom|drift`), protocol.UpdateSelector},
		{regexp.MustCompile(`(?i)blocked|locked|unavailable|upstream`), protocol.UpstreamUnblock},
	}
})

func inferAction(text string) protocol.RecoveryAction {
	for _, f := range actionFamilies() {
		if f.words.MatchString(text) {
			return f.action
		}
	}
	return protocol.UnknownRecovery
}

// failureHint is what would fix a failed run: by the connector's own word, by its
// sentence, or by how the run ended. The sentences of the runner are not read.
func (s *session) failureHint(f *Failure) protocol.RecoveryHint {
	if s.done == nil || s.done.Error == nil || f.Reason != ReasonConnectorFailed && f.Reason != ReasonConnectorCancelled {
		switch f.Reason {
		case ReasonViolation:
			return protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade}
		case ReasonTimedOut, ReasonShutdown, ReasonStorage, ReasonRuntimeError:
			return protocol.RecoveryHint{Action: protocol.RetryByRuntime}
		}
		return protocol.RecoveryHint{Action: protocol.UnknownRecovery}
	}
	e := s.done.Error
	if e.RecoveryHint != nil {
		return *e.RecoveryHint
	}
	hint := protocol.RecoveryHint{Action: inferAction(e.Code + " " + e.Message), Retryable: e.Retryable}
	switch {
	case e.Retryable == nil:
	case *e.Retryable && hint.Action == protocol.UnknownRecovery:
		hint.Action = protocol.RetryByRuntime
	case !*e.Retryable && (hint.Action == protocol.UnknownRecovery || hint.Action == protocol.RetryByRuntime):
		hint.Action = protocol.NotRetriable
	}
	return hint
}

// knownGaps is the run's list: declared skips, gaps by stream and reason,
// unanswered questions, short lanes, and the failure itself. The bound cuts the
// skips and gaps first: why the run failed is never cut.
func (s *session) knownGaps(coverage []KnownGap, f *Failure) []KnownGap {
	out := append([]KnownGap{}, s.skips...)
	keys := make([]gapTally, 0, len(s.tally))
	for k := range s.tally {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b gapTally) int {
		return slices.Compare([]string{a.stream, a.reason, a.class}, []string{b.stream, b.reason, b.class})
	})
	retry := true
	for _, k := range keys {
		out = append(out, KnownGap{
			Kind: protocol.KnownDetailGap, Reason: s.redactor.Load().Line(k.reason, maxKnownText), Severity: protocol.SeverityRecoverable,
			Stream: k.stream, Count: s.tally[k], Message: protocol.OwnerCopy(protocol.Reason(k.reason), k.class),
			RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime, Retryable: &retry},
		})
	}
	out = append(out, s.knownRejected()...)
	out = append(out, s.knownTooLarge()...)
	out = append(out, s.knownMissing()...)
	s.mu.Lock()
	last := append(slices.Clone(s.asks), coverage...)
	s.mu.Unlock()
	if f != nil {
		last = append(last, KnownGap{Kind: protocol.KnownRunFailed, Reason: string(f.Reason), Severity: protocol.SeverityActionable, Message: f.Message, RecoveryHint: s.failureHint(f)})
	}
	last = last[max(0, len(last)-maxKnownGaps):]
	return append(out[:min(len(out), maxKnownGaps-len(last))], last...)
}
