package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// EvidenceReader returns the facts by which connections are judged.
type EvidenceReader interface {
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
	Runtime(ctx context.Context) (evidence.Runtime, error)
}

// ErrNotFound means that no connection has that id.
var ErrNotFound = errors.New("no such connection")

// View judges connections. Both fields must be set.
type View struct {
	Reader EvidenceReader
	Now    func() time.Time
}

// ConnectionPage is a part of all connections, ordered by id.
type ConnectionPage struct {
	// Indicator is nil if the runtime that serves all connections works.
	Indicator   *RuntimeIndicator `json:"runtime_indicator"`
	Connections []Connection      `json:"connections"`
	// Next is the after argument for the following page; empty on the last.
	Next       string    `json:"next_after,omitempty"`
	ObservedAt time.Time `json:"observed_at"`
}

// Overview is all connections, sorted for people.
type Overview struct {
	Indicator   *RuntimeIndicator `json:"runtime_indicator"`
	Summary     Summary           `json:"summary"`
	Connections []Connection      `json:"connections"`
	ObservedAt  time.Time         `json:"observed_at"`
}

const (
	defaultPage = 100
	largestPage = 1000
)

// judgeContext is one call: the time and the runtime state that all its judgements share.
type judgeContext struct {
	now       time.Time
	indicator *RuntimeIndicator
}

func (m judgeContext) judge(e *evidence.Evidence) Judgement {
	j := judgeEvidence(e, m.now, m.indicator == nil)
	j.Indicator = m.indicator
	return j
}

func (v *View) newContext(ctx context.Context) (judgeContext, error) {
	now := v.Now()
	rt, err := v.Reader.Runtime(ctx)
	if err != nil {
		return judgeContext{}, fmt.Errorf("read the state of the runtime: %w", err)
	}
	return judgeContext{now: now, indicator: runtimeIndicator(health.ReadRuntime(&rt, now))}, nil
}

// Indicator returns the state of the runtime that serves all connections; nil if it works.
func (v *View) Indicator(ctx context.Context) (*RuntimeIndicator, error) {
	m, err := v.newContext(ctx)
	return m.indicator, err
}

// readConnection returns the evidence of one connection.
func (v *View) readConnection(ctx context.Context, id string) (*evidence.Evidence, error) {
	found, err := v.Reader.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	for i := range found {
		if found[i].Connection.ID == id {
			return &found[i], nil
		}
	}
	return nil, fmt.Errorf("connection %q: %w", id, ErrNotFound)
}

// One judges one connection, whatever its status.
func (v *View) One(ctx context.Context, id string) (Judgement, error) {
	m, err := v.newContext(ctx)
	if err != nil {
		return Judgement{}, err
	}
	e, err := v.readConnection(ctx, id)
	if err != nil {
		return Judgement{}, err
	}
	return m.judge(e), nil
}

// Page returns the connections with ids after the argument. A limit of zero means 100; the maximum is 1000.
func (v *View) Page(ctx context.Context, after string, limit int) (ConnectionPage, error) {
	m, err := v.newContext(ctx)
	if err != nil {
		return ConnectionPage{}, err
	}
	if limit <= 0 {
		limit = defaultPage
	}
	connections, next, err := v.readPage(ctx, m, after, min(limit, largestPage))
	return ConnectionPage{Indicator: m.indicator, Connections: connections, Next: next, ObservedAt: m.now}, err
}

// readPage reads one connection more than it returns, to detect the last page.
func (v *View) readPage(ctx context.Context, m judgeContext, after string, limit int) ([]Connection, string, error) {
	found, err := v.Reader.Evidence(ctx, evidence.Query{After: after, Limit: limit + 1})
	if err != nil {
		return nil, "", fmt.Errorf("read evidence: %w", err)
	}
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].Connection.ID
	}
	out := make([]Connection, len(found))
	for i := range found {
		out[i] = m.judge(&found[i]).Connection
	}
	return out, next, nil
}

// All returns every connection that is not revoked, and their summary.
func (v *View) All(ctx context.Context) (Overview, error) {
	m, err := v.newContext(ctx)
	if err != nil {
		return Overview{}, err
	}
	all := []Connection{}
	for after := ""; ; {
		part, next, err := v.readPage(ctx, m, after, largestPage)
		if err != nil {
			return Overview{}, err
		}
		all = append(all, part...)
		if next == "" {
			break
		}
		after = next
	}
	all = sortForPeople(all)
	return Overview{Indicator: m.indicator, Summary: Summarize(all, m.indicator), Connections: all, ObservedAt: m.now}, nil
}
