package runner

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of a run's list of known gaps. The list summarizes the gaps, which are stored one by one.
const (
	maxKnownGaps = 200
	maxKnownText = 200
)

// gapGroup identifies the gaps of one stream, reason and class.
type gapGroup struct {
	stream, reason, class string
}

// gapSummary collects the declared skips and the number of gaps per group.
type gapSummary struct {
	skips  []KnownGap
	groups map[gapGroup]int64
}

func (s *gapSummary) addSkip(g KnownGap) {
	if len(s.skips) < maxKnownGaps {
		s.skips = append(s.skips, g)
	}
}

func (s *gapSummary) countGap(m *protocol.DetailGap) {
	class := ""
	if m.Detail != nil {
		class = m.Detail.Class
	}
	key := gapGroup{m.Stream, string(m.Reason), class}
	if s.groups == nil {
		s.groups = map[gapGroup]int64{}
	}
	if _, known := s.groups[key]; known || len(s.groups) < maxKnownGaps {
		s.groups[key]++
	}
}

// gapErrorWithClass returns the gap's last_error with its class and HTTP status, where console and commands read them.
func gapErrorWithClass(m *protocol.DetailGap) jsontext.Value {
	out := map[string]any{}
	if m.LastError != nil {
		_ = json.Unmarshal(m.LastError, &out) // the decoder has checked that it is an object
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

// knownSkip returns the known gap of a declared skip.
func (s *session) knownSkip(m *protocol.SkipResult, st *stream) KnownGap {
	r := s.secrets.redactor.Load()
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

// skipSeverity returns the severity of a declared skip. A skip of a stream that the owner requested by name is
// actionable; a skip that a retry resolves is transient.
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

// skipPermanence orders skips by how little a further run changes.
type skipPermanence int

const (
	transientSkip skipPermanence = iota // a retry is expected to resolve it
	unclearSkip                         // the remedy is unknown
	permanentSkip                       // no retry resolves it
)

// skipPermanenceOf follows the recovery action. A reason that is known to be transient outranks an inferred action.
func skipPermanenceOf(m *protocol.SkipResult, hint protocol.RecoveryHint) skipPermanence {
	switch {
	case m.RecoveryHint == nil && m.Reason.Transient(), hint.Action == protocol.RetryByRuntime:
		return transientSkip
	case hint.Action != protocol.UnknownRecovery && hint.Action != "":
		return permanentSkip
	case hint.Retryable != nil && *hint.Retryable:
		return transientSkip
	default:
		return unclearSkip
	}
}

// actionPattern is a recovery action and the words that suggest it.
type actionPattern struct {
	words  *regexp.Regexp
	action protocol.RecoveryAction
}

// actionPatterns infer a recovery action from words when the connector sends no hint. The first match wins.
var actionPatterns = sync.OnceValue(func() []actionPattern {
	return []actionPattern{
		{regexp.MustCompile(`(?i)captcha|challenge|human|verify`), protocol.ManualActionRequired},
		{regexp.MustCompile(`(?i)credential|login|token|auth|password|session`), protocol.RefreshCredentials},
		{regexp.MustCompile(`(?i)rate|429|time[d_ -]*out|\b5\d\d\b|network|retry`), protocol.RetryByRuntime},
		{regexp.MustCompile(`(?i)template|pars|schema|version|unsupported`), protocol.RetryOnConnectorUpgrade},
		{regexp.MustCompile(`(?i)selector|dom|drift`), protocol.UpdateSelector},
		{regexp.MustCompile(`(?i)blocked|locked|unavailable|upstream`), protocol.UpstreamUnblock},
	}
})

func inferAction(text string) protocol.RecoveryAction {
	for _, f := range actionPatterns() {
		if f.words.MatchString(text) {
			return f.action
		}
	}
	return protocol.UnknownRecovery
}

// failureHint returns what would fix a failed run: the connector's hint, an action inferred from its message, or one
// that follows from the failure's reason.
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

// knownGaps returns the run's list: declared skips, gaps by stream and reason, unanswered questions, incomplete lanes
// and the failure. Skips and gaps beyond the bound are dropped first; the failure is always listed.
func (s *session) knownGaps(coverage []KnownGap, f *Failure) []KnownGap {
	out := append([]KnownGap{}, s.summary.skips...)
	out = append(out, s.summary.knownGroups(&s.secrets)...)
	out = append(out, s.streams.knownRejected()...)
	out = append(out, s.streams.knownTooLarge()...)
	out = append(out, s.streams.knownMissing()...)
	s.questions.mu.Lock()
	last := append(slices.Clone(s.questions.unanswered), coverage...)
	s.questions.mu.Unlock()
	if f != nil {
		last = append(last, KnownGap{Kind: protocol.KnownRunFailed, Reason: string(f.Reason),
			Severity: protocol.SeverityActionable, Message: f.Message, RecoveryHint: s.failureHint(f)})
	}
	last = last[max(0, len(last)-maxKnownGaps):]
	return append(out[:min(len(out), maxKnownGaps-len(last))], last...)
}

// knownGroups returns the number of gaps by stream, reason and class.
func (s *gapSummary) knownGroups(secrets *secrets) (out []KnownGap) {
	groups := slices.SortedFunc(maps.Keys(s.groups), func(a, b gapGroup) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.reason, b.reason), cmp.Compare(a.class, b.class))
	})
	retry := true
	for _, g := range groups {
		out = append(out, KnownGap{
			Kind: protocol.KnownDetailGap, Reason: secrets.redactor.Load().Line(g.reason, maxKnownText),
			Severity: protocol.SeverityRecoverable, Stream: g.stream, Count: s.groups[g],
			Message:      protocol.OwnerCopy(protocol.Reason(g.reason), g.class),
			RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime, Retryable: &retry},
		})
	}
	return out
}
