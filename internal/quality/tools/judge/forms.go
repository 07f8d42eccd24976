package main

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// line is the union of all forms; the member that is present determines the form.
type line struct {
	Evidence    jsontext.Value `json:"evidence"`
	Snapshot    jsontext.Value `json:"snapshot"`
	Disposition jsontext.Value `json:"disposition"`
	Heartbeat   jsontext.Value `json:"heartbeat"`
	Backlog     jsontext.Value `json:"backlog"`

	Now       *time.Time               `json:"now"`
	RuntimeOK *bool                    `json:"runtime_ok"`
	Streams   []looseStream            `json:"streams"`
	Refresh   *health.RefreshEvidence  `json:"refresh"`
	Progress  *health.ProgressEvidence `json:"progress"`
	Schedule  *looseSchedule           `json:"schedule"`
	Attention *looseAttention          `json:"attention"`
}

// result is the answer to a snapshot.
type result struct {
	Verdict    verdict.Verdict `json:"verdict"`
	Violations []string        `json:"violations,omitzero"`
}

func (r *result) broken() bool { return len(r.Violations) > 0 }

// assessed is the answer to evidence.
type assessed struct {
	health.Assessment
	*result
}

// answerTo reads a line and answers it.
func answerTo(raw []byte, check bool) (any, error) {
	body, err := normalise(raw)
	if err != nil {
		return nil, &lineFailure{Code: "bad_json", Message: err.Error()}
	}
	var l line
	if err := decode(body, &l); err != nil {
		return nil, err
	}
	switch {
	case present(l.Evidence):
		return judgeEvidence(&l, check)
	case present(l.Snapshot):
		return judgeSnapshot(&l, check)
	case present(l.Disposition):
		return judgeDisposition(&l)
	case present(l.Heartbeat):
		return judgeHeartbeat(&l)
	case len(l.Backlog) > 0:
		return judgeBacklog(l.Backlog)
	default:
		return nil, &lineFailure{Code: "unknown_form",
			Message: "the line has none of: evidence, snapshot, disposition, heartbeat, backlog"}
	}
}

func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return &lineFailure{Code: "bad_value", Message: err.Error()}
	}
	return nil
}

func (l *line) now() (time.Time, error) {
	if l.Now == nil {
		return time.Time{}, &lineFailure{Code: "now_missing",
			Message: "this form needs the moment of the judgement, in the member now"}
	}
	return *l.Now, nil
}

func (l *line) runtimeOK() bool { return l.RuntimeOK == nil || *l.RuntimeOK }

func judgeEvidence(l *line, check bool) (any, error) {
	now, err := l.now()
	if err != nil {
		return nil, err
	}
	e, err := readEvidence(l.Evidence)
	if err != nil {
		return nil, err
	}
	a := health.Project(e, now)
	return &assessed{Assessment: a, result: render(verdict.Input{
		Snapshot: a.Snapshot, Streams: a.Streams, Refresh: a.Refresh, Progress: a.Progress, Schedule: a.Schedule,
		RuntimeOK: l.runtimeOK(),
	}, check)}, nil
}

// readEvidence reads evidence in which what is usual may be left out.
func readEvidence(body []byte) (*evidence.Evidence, error) {
	var e evidence.Evidence
	if err := decode(body, &e); err != nil {
		return nil, err
	}
	var reported struct {
		Streams []struct {
			Required *bool `json:"required"`
		} `json:"streams"`
	}
	if err := decode(body, &reported); err != nil {
		return nil, err
	}
	for i := range e.Streams {
		e.Streams[i].Required = reported.Streams[i].Required == nil || *reported.Streams[i].Required
	}
	if e.Connection.Status == "" {
		e.Connection.Status = evidence.StatusActive
	}
	return &e, nil
}

func render(in verdict.Input, check bool) *result {
	r := &result{Verdict: verdict.Synthesize(in)}
	if check {
		if err := verdict.CheckVerdict(in, r.Verdict); err != nil {
			r.Violations = violations(err)
		}
	}
	return r
}

// violations takes joined errors apart.
func violations(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range joined.Unwrap() {
		out = append(out, fmt.Sprint(e))
	}
	return out
}
