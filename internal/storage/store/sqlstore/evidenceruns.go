package sqlstore

import (
	"database/sql"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// endedRun is a row of endedRunsQuery.
type endedRun struct {
	id, run, status, trigger                 string
	span                                     string // start and end, joined
	succeeded                                sql.NullString
	checkpoint                               sql.RawBytes // of a run without a record count
	rate, connectorError                     sql.RawBytes
	failureReason, terminalReason, errorText sql.NullString
	recoveryOnly, silent, unanswered         bool
	committed                                int64
	recovered                                sql.NullInt64
}

func (p *evidencePage) endedRuns(rows *sql.Rows) error {
	var r endedRun
	into := []any{&r.id, &r.run, &r.status, &r.trigger, &r.recoveryOnly, &r.span, &r.committed, &r.checkpoint,
		&r.recovered, &r.rate,
		&r.failureReason, &r.terminalReason, &r.errorText, &r.connectorError, &r.succeeded, &r.silent, &r.unanswered}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.evidenceOf(r.id)
		if !ok {
			continue
		}
		var times timeParser
		run := r.evidence(&times)
		success := times.optional(r.succeeded.String)
		if run.Status == evidence.RunSucceeded {
			success = &run.EndedAt
		}
		rate, readable := r.pace(run)
		if times.bad || !readable {
			markUnreadable(e, evidence.FamilyRuns)
			continue
		}
		e.LastRun, e.LastSuccessAt, e.Rate = run, success, rate
		if r.silent { // the device reported its own result
			e.LastRun = nil
		}
	}
	return nil
}

func (r *endedRun) evidence(times *timeParser) *evidence.Run {
	started, ended := r.span, ""
	if len(r.span) > len(TimeLayout) {
		started, ended = r.span[:len(TimeLayout)], r.span[len(TimeLayout):]
	}
	run := &evidence.Run{
		ID: r.run, Status: evidence.RunStatus(r.status), Trigger: r.trigger, RecoveryOnly: r.recoveryOnly,
		Unanswered: r.unanswered,
		StartedAt:  times.required(started), EndedAt: times.required(ended)}
	committed := r.committed
	if r.checkpoint != nil {
		committed = recordsCommitted(jsontext.Value(r.checkpoint), committed)
	}
	run.Committed = &committed
	if r.recovered.Valid {
		n := r.recovered.Int64
		run.Recovered = &n
	}
	if run.Status != evidence.RunSucceeded {
		run.Failure = r.failure()
	}
	return run
}

// failure assembles why the run did not succeed. For an abandoned run, the terminal reason is the failure.
func (r *endedRun) failure() *evidence.Failure {
	f := &evidence.Failure{Reason: r.failureReason.String, Origin: r.terminalReason.String, Message: r.errorText.String}
	if f.Reason == "" {
		f.Reason, f.Origin = f.Origin, ""
	}
	var own protocol.DoneError
	if r.connectorError != nil && json.Unmarshal(r.connectorError, &own) == nil {
		f.Code, f.Retryable = own.Code, own.Retryable
		if f.Message == "" {
			f.Message = own.Message
		}
		if hint := own.RecoveryHint; hint != nil {
			f.Action = hint.Action
			if f.Retryable == nil {
				f.Retryable = hint.Retryable
			}
		}
	}
	if *f == (evidence.Failure{}) {
		return nil
	}
	return f
}

// pace returns the last reported rate, as of the run's end.
func (r *endedRun) pace(run *evidence.Run) (rate *evidence.Rate, readable bool) {
	if r.rate == nil {
		return nil, true
	}
	rate = new(evidence.Rate)
	if err := json.Unmarshal(r.rate, rate); err != nil {
		return nil, false
	}
	rate.At = run.EndedAt
	return rate, true
}

// activeRuns adds every run with a lease. The caller, who has a clock, decides whether the lease has expired. A run
// without an id is requested and has not started.
func (p *evidencePage) activeRuns(rows *sql.Rows) error {
	var id, run, started, until string
	into := []any{&id, &run, &started, &until}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.evidenceOf(id)
		if !ok {
			continue
		}
		var times timeParser
		active := &evidence.ActiveRun{ID: run, StartedAt: times.required(started), LeaseUntil: times.optional(until)}
		if times.bad {
			markUnreadable(e, evidence.FamilyRuns)
			continue
		}
		if run == "" {
			e.RequestedAt = &active.StartedAt
			continue
		}
		e.Active = active
	}
	return nil
}
