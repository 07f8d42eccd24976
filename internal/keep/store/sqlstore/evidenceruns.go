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
	span                                     string // when it started and when it ended, joined
	succeeded                                sql.NullString
	checkpoint                               sql.RawBytes // of a run whose records were not counted
	rate, connectorError                     sql.RawBytes
	failureReason, terminalReason, errorText sql.NullString
	recoveryOnly, silent, unanswered         bool
	committed                                int64
	recovered                                sql.NullInt64
}

func (p *page) endedRuns(rows *sql.Rows) error {
	var r endedRun
	into := []any{&r.id, &r.run, &r.status, &r.trigger, &r.recoveryOnly, &r.span, &r.committed, &r.checkpoint, &r.recovered, &r.rate,
		&r.failureReason, &r.terminalReason, &r.errorText, &r.connectorError, &r.succeeded, &r.silent, &r.unanswered}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.find(r.id)
		if !ok {
			continue
		}
		var times stamps
		run := r.evidence(&times)
		success := times.maybe(r.succeeded.String)
		if run.Status == evidence.RunSucceeded {
			success = &run.EndedAt
		}
		rate, readable := r.pace(run)
		if times.bad || !readable {
			lose(e, evidence.FamilyRuns)
			continue
		}
		e.LastRun, e.LastSuccessAt, e.Rate = run, success, rate
		if r.silent { // the device's own account stands
			e.LastRun = nil
		}
	}
	return nil
}

func (r *endedRun) evidence(times *stamps) *evidence.Run {
	started, ended := r.span, ""
	if len(r.span) > len(Layout) {
		started, ended = r.span[:len(Layout)], r.span[len(Layout):]
	}
	run := &evidence.Run{
		ID: r.run, Status: evidence.RunStatus(r.status), Trigger: r.trigger, RecoveryOnly: r.recoveryOnly, Unanswered: r.unanswered,
		StartedAt: times.at(started), EndedAt: times.at(ended)}
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

// failure puts together why the run did not succeed. A run that nobody ended has
// no failure of its own: what ended it is then the reason.
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

// pace is the rate that the run reported last, as of its end.
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

// activeRuns takes every run that a lease names: whether the lease has expired
// is for those to say who have a clock. A run without an id was asked for and has
// not begun.
func (p *page) activeRuns(rows *sql.Rows) error {
	var id, run, started, until string
	into := []any{&id, &run, &started, &until}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.find(id)
		if !ok {
			continue
		}
		var times stamps
		active := &evidence.ActiveRun{ID: run, StartedAt: times.at(started), LeaseUntil: times.maybe(until)}
		if times.bad {
			lose(e, evidence.FamilyRuns)
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
