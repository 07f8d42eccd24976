package verdict

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// promiseWords announce that missing data will arrive.
var promiseWords = []string{"resum", "refresh", "retry", "retri", "recover", "next run", "later run",
	"a run is expected"}

// claimWords announce that all is well.
var claimWords = []string{"up to date", "current", "normal", "collecting"}

// unwantedWords name internal machinery or are in the wrong voice.
var unwantedWords = []string{
	"dead-letter", "dead letter", "outbox", "source_pressure", "retry budget", "backlog", "cursor", "lease", "needs you",
	"oops", "!", "nothing for you to do", "we ", "we'", "our ",
}

func containsAny(text string, words []string) string {
	lower := strings.ToLower(text)
	for _, w := range words {
		if i := strings.Index(lower, w); i >= 0 && (i == 0 || w[0] == '!' || !isLowerLetter(lower[i-1])) {
			return w
		}
	}
	return ""
}

func isLowerLetter(b byte) bool { return 'a' <= b && b <= 'z' }

func checkGap(r *reading, v *Verdict) error {
	retry := hasAction(v.RequiredActions, RetryGap)
	if retry && r.disposition != health.DispositionResumable {
		return fmt.Errorf("a retry of what is %s", r.disposition)
	}
	owed := r.state() == health.Degraded && r.resumable() && r.stale() && !r.syncing && !r.unreliable
	blocked := slices.ContainsFunc(v.RequiredActions, func(a RequiredAction) bool {
		return a.Kind == Reauth || a.Kind == AddInfo
	})
	if owed && !blocked && (!retry || r.in.RuntimeOK && v.Channel != Advisory) {
		return errors.New("a stale and degraded gap is silent")
	}
	return nil
}

func checkTerminal(r *reading, v *Verdict) error {
	if r.disposition == health.DispositionTerminal {
		for _, text := range []string{v.ForwardStatement, v.Progress.Headline} {
			if w := containsAny(text, promiseWords); w != "" {
				return fmt.Errorf("%q promises: %q", text, w)
			}
		}
	}
	for _, s := range v.Streams {
		if s.Disposition != health.DispositionTerminal && s.Disposition != health.DispositionChecking {
			continue
		}
		if w := containsAny(s.Statement, promiseWords); w != "" {
			return fmt.Errorf("stream %s: %q promises: %q", s.StreamID, s.Statement, w)
		}
	}
	return nil
}

func checkStatement(r *reading, v *Verdict) error {
	if v.ForwardStatement == "" || strings.Count(v.ForwardStatement, ".") != 1 ||
		!strings.HasSuffix(v.ForwardStatement, ".") {
		return fmt.Errorf("%q is not one sentence", v.ForwardStatement)
	}
	normal := v.Pill.Tone == Green && r.fresh() && r.disposition == health.DispositionComplete &&
		v.Channel == Calm && r.in.RuntimeOK && !r.stalled
	if w := containsAny(v.ForwardStatement, claimWords); w != "" && !normal {
		return fmt.Errorf("%q claims: %q", v.ForwardStatement, w)
	}
	if r.disposition == health.DispositionChecking && strings.Contains(v.ForwardStatement, "next run") {
		return fmt.Errorf("%q while coverage is not known", v.ForwardStatement)
	}
	return nil
}

func checkOutline(r *reading, v *Verdict) error {
	e := &v.Outline
	for i, text := range []string{e.Happened, e.Means, e.Next} {
		if text == "" && (i != 1 || v.Pill.Tone != Green) {
			return fmt.Errorf("line %d is empty", i+1)
		}
		if text != "" && (strings.Count(text, ".") != 1 || !strings.HasSuffix(text, ".")) {
			return fmt.Errorf("%q is not one sentence", text)
		}
		if w := containsAny(text, claimWords); w != "" {
			return fmt.Errorf("%q claims: %q", text, w)
		}
		if w := containsAny(text, promiseWords); w != "" && i > 0 && r.disposition == health.DispositionTerminal {
			return fmt.Errorf("%q promises: %q", text, w)
		}
	}
	return nil
}

func checkStreams(r *reading, v *Verdict) error {
	if len(v.Streams) != len(r.in.Streams) {
		return errors.New("a stream is missing")
	}
	for i, s := range v.Streams {
		if s.Collected != nil && s.Considered != nil && *s.Collected > *s.Considered {
			return fmt.Errorf("stream %s: %d of %d", s.StreamID, *s.Collected, *s.Considered)
		}
		if s.Disposition != r.dispositions[i] || s.Coverage != r.in.Streams[i].Coverage || s.Statement == "" {
			return fmt.Errorf("stream %s is not as its evidence", s.StreamID)
		}
		if s.ActionRef == nil {
			continue
		}
		if ref := *s.ActionRef; ref < 0 || ref >= len(v.RequiredActions) ||
			!slices.Contains(v.RequiredActions[ref].Affects, s.StreamID) {
			return fmt.Errorf("stream %s refers to action %d", s.StreamID, ref)
		}
	}
	return nil
}

func checkProgress(_ *reading, v *Verdict) error {
	switch v.Progress.Mode {
	case health.ModeScheduled, health.ModeManual, health.ModeDeferred, health.ModeLocalDevice:
	default:
		return fmt.Errorf("mode %q", v.Progress.Mode)
	}
	h := " " + v.Progress.Headline
	if h == " " || strings.Contains(h, " 0 ") {
		return fmt.Errorf("headline %q", v.Progress.Headline)
	}
	return nil
}

func checkDetail(r *reading, v *Verdict) error {
	s, d := &r.in.Snapshot, &v.Detail
	same := s.State == d.State && s.ReasonCode == d.ReasonCode && s.DominantID == d.DominantID &&
		s.Disposition == d.Disposition &&
		len(s.Conditions) == len(d.Conditions) && reflect.DeepEqual(s.Backlog, d.Backlog) &&
		reflect.DeepEqual(s.NextAttemptAt, d.NextAttemptAt) && reflect.DeepEqual(s.Rate, d.Rate)
	if !same {
		return errors.New("evidence is lost")
	}
	for i := range s.Conditions {
		if a, b := s.Conditions[i].ConditionKind, d.Conditions[i].ConditionKind; !reflect.DeepEqual(a, b) {
			return errors.New("a condition is lost")
		}
	}
	listed := func(k SuppressedKind) bool {
		return slices.ContainsFunc(d.Suppressed, func(x Suppressed) bool { return x.Kind == k })
	}
	switch {
	case v.Trace.RuntimeCapped != listed(SuppressedRuntimeFault), r.syncing != listed(SuppressedSyncing),
		r.state() == health.CoolingOff && !listed(SuppressedCooldown):
		return errors.New("a suppressed signal is not listed")
	}
	return nil
}

func checkWords(_ *reading, v *Verdict) error {
	texts := []string{
		v.ForwardStatement, v.Outline.Happened, v.Outline.Means, v.Outline.Next, v.Progress.Headline, v.Pill.Label,
	}
	for _, a := range v.Annotations {
		texts = append(texts, a.Text)
	}
	for i := range v.RequiredActions {
		a := &v.RequiredActions[i]
		texts = append(texts, a.CTA)
		if a.Remediation != nil {
			texts = append(texts, a.Remediation.Label, a.Remediation.Summary)
			for _, c := range a.Remediation.Commands {
				texts = append(texts, c.Label, c.Purpose)
			}
		}
	}
	for _, s := range v.Streams {
		texts = append(texts, s.Statement)
	}
	for _, text := range texts {
		if w := containsAny(text, unwantedWords); w != "" {
			return fmt.Errorf("%q says %q", text, w)
		}
	}
	return nil
}
