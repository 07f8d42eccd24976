package main

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// looseSnapshot is a snapshot in which what is usual may be left out.
type looseSnapshot struct {
	health.Snapshot
	Conditions []looseCondition `json:"conditions"`
}

type looseCondition struct {
	health.Condition
	Current *bool       `json:"current"`
	Status  looseStatus `json:"status"`
}

// looseStatus is a status as a word, or as true, false or null.
type looseStatus health.Status

func (s *looseStatus) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '"' {
		return json.Unmarshal(b, (*string)(s))
	}
	switch string(b) {
	case "true", "false":
		*s = looseStatus(b)
	default:
		*s = looseStatus(health.StatusUnknown)
	}
	return nil
}

type looseStream struct {
	health.StreamRollup
	Stream   string `json:"stream"`
	Name     string `json:"name"`
	Required *bool  `json:"required"`
	// CoverageCondition is another name of the coverage.
	CoverageCondition health.Coverage `json:"coverage_condition"`
}

func (s *looseStream) rollup() health.StreamRollup {
	r := s.StreamRollup
	r.StreamID = cmp.Or(r.StreamID, s.Stream, s.Name)
	r.Coverage = cmp.Or(r.Coverage, s.CoverageCondition, health.CoverageUnknown)
	if r.Priority == "" {
		r.Priority = health.RequiredStream
		if s.Required != nil && !*s.Required {
			r.Priority = health.OptionalStream
		}
	}
	return r
}

// looseSchedule is a mode, or whether there is a schedule that is on.
type looseSchedule struct {
	Mode            health.ScheduleMode `json:"mode"`
	Enabled         *bool               `json:"enabled"`
	HasPriorSuccess *bool               `json:"has_prior_success"`
	SourceWaits     bool                `json:"source_waits"`
}

func (s *looseSchedule) evidence(snapshot *health.Snapshot) *health.ScheduleEvidence {
	if s == nil {
		return nil
	}
	out := &health.ScheduleEvidence{Mode: s.Mode, HasPriorSuccess: snapshot.LastSuccessAt != nil,
		SourceWaits: s.SourceWaits}
	if s.HasPriorSuccess != nil {
		out.HasPriorSuccess = *s.HasPriorSuccess
	}
	switch {
	case out.Mode != "":
	case s.Enabled == nil:
		out.Mode = health.NoSchedule
	case *s.Enabled:
		out.Mode = health.ScheduleActive
	default:
		out.Mode = health.SchedulePaused
	}
	return out
}

// looseAttention is whether a question is open: an object, a word, or true or false.
type looseAttention struct{ axis health.AttentionAxis }

func (a *looseAttention) UnmarshalJSON(b []byte) error {
	switch jsontext.Value(b).Kind() {
	case '"':
		return json.Unmarshal(b, (*string)(&a.axis))
	case 't':
		a.axis = health.AttentionOpen
	case 'f', 'n':
		a.axis = health.AttentionNone
	default:
		var o struct {
			Open *bool                `json:"open"`
			Axis health.AttentionAxis `json:"axis"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		a.axis = o.Axis
		if a.axis == "" && o.Open != nil {
			a.axis = health.AttentionNone
			if *o.Open {
				a.axis = health.AttentionOpen
			}
		}
	}
	return nil
}

func judgeSnapshot(l *line, check bool) (any, error) {
	var loose looseSnapshot
	if err := decode(l.Snapshot, &loose); err != nil {
		return nil, err
	}
	s := loose.Snapshot
	s.Conditions = make([]health.Condition, len(loose.Conditions))
	for i := range loose.Conditions {
		c := &loose.Conditions[i]
		s.Conditions[i] = c.Condition
		s.Conditions[i].Current = c.Current == nil || *c.Current
		kind := health.ConditionKind{}
		if c.ConditionKind != nil {
			kind = *c.ConditionKind
		}
		kind.Status = cmp.Or(health.Status(c.Status), health.StatusUnknown)
		s.Conditions[i].ConditionKind = &kind
	}
	in := verdict.Input{Refresh: l.Refresh, Progress: l.Progress, RuntimeOK: l.runtimeOK()}
	for i := range l.Streams {
		in.Streams = append(in.Streams, l.Streams[i].rollup())
	}
	complete(&s, l)
	in.Snapshot, in.Schedule = s, l.Schedule.evidence(&s)
	return render(in, check), nil
}

// complete fills in what the snapshot leaves out, with what claims the least.
func complete(s *health.Snapshot, l *line) {
	if s.Axes.Attention == "" && l.Attention != nil {
		s.Axes.Attention = l.Attention.axis
	}
	s.Axes.Attention = cmp.Or(s.Axes.Attention, health.AttentionNone)
	s.Axes.Coverage = cmp.Or(s.Axes.Coverage, health.CoverageUnknown)
	s.Axes.Freshness = cmp.Or(s.Axes.Freshness, health.FreshnessUnknown)
	s.Axes.Outbox = cmp.Or(s.Axes.Outbox, health.OutboxUnknown)
	s.Axes.RemoteSurface = cmp.Or(s.Axes.RemoteSurface, health.SurfaceNone)
	s.State = cmp.Or(s.State, health.Unknown)
	if s.Disposition == "" {
		s.Disposition = health.DeriveDisposition(health.DispositionInput{
			Coverage: s.Axes.Coverage, Attention: s.Axes.Attention != health.AttentionNone,
			Freshness: s.Axes.Freshness, ManualOnly: l.Refresh.ManualOnly(),
		})
	}
}
