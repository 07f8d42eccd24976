package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// EvidenceReader gives the facts that connections are judged by.
type EvidenceReader interface {
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
	Runtime(ctx context.Context) (evidence.Runtime, error)
}

// ErrNotFound says that there is no connection of that id.
var ErrNotFound = errors.New("no such connection")

// View answers an owner's questions. Both members must be set.
type View struct {
	Reader EvidenceReader
	Now    func() time.Time
}

// Page is a part of all connections, in the order of their ids.
type Page struct {
	// Indicator is nil when the runtime that serves all connections is well.
	Indicator   *RuntimeIndicator `json:"runtime_indicator"`
	Connections []Connection      `json:"connections"`
	// Next is what to pass as after for the following page; empty on the last.
	Next       string    `json:"next_after,omitempty"`
	ObservedAt time.Time `json:"observed_at"`
}

// Overview is all connections, in the order in which a person wants to see them.
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

// moment is one call: the time and the runtime that all its judgements share.
type moment struct {
	now       time.Time
	indicator *RuntimeIndicator
}

func (m moment) judge(e *evidence.Evidence) Judgement {
	j := judge(e, m.now, m.indicator == nil)
	j.Indicator = m.indicator
	return j
}

func (v *View) begin(ctx context.Context) (moment, error) {
	now := v.Now()
	rt, err := v.Reader.Runtime(ctx)
	if err != nil {
		return moment{}, fmt.Errorf("read the state of the runtime: %w", err)
	}
	return moment{now: now, indicator: indicate(health.ReadRuntime(&rt, now))}, nil
}

// Indicator tells whether the runtime that serves all connections is the fault;
// nil when it is well.
func (v *View) Indicator(ctx context.Context) (*RuntimeIndicator, error) {
	m, err := v.begin(ctx)
	return m.indicator, err
}

// read gives the evidence of one connection.
func (v *View) read(ctx context.Context, id string) (*evidence.Evidence, error) {
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

// One judges one connection, whatever its standing.
func (v *View) One(ctx context.Context, id string) (Judgement, error) {
	m, err := v.begin(ctx)
	if err != nil {
		return Judgement{}, err
	}
	e, err := v.read(ctx, id)
	if err != nil {
		return Judgement{}, err
	}
	return m.judge(e), nil
}

// Page gives the connections whose ids follow after. A limit of zero means 100;
// 1000 is the most.
func (v *View) Page(ctx context.Context, after string, limit int) (Page, error) {
	m, err := v.begin(ctx)
	if err != nil {
		return Page{}, err
	}
	if limit <= 0 {
		limit = defaultPage
	}
	connections, next, err := v.page(ctx, m, after, min(limit, largestPage))
	return Page{Indicator: m.indicator, Connections: connections, Next: next, ObservedAt: m.now}, err
}

// page asks for one connection more than it gives, to tell whether that is all.
func (v *View) page(ctx context.Context, m moment, after string, limit int) ([]Connection, string, error) {
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

// All gives every connection that is not revoked, and their summary.
func (v *View) All(ctx context.Context) (Overview, error) {
	m, err := v.begin(ctx)
	if err != nil {
		return Overview{}, err
	}
	all := []Connection{}
	for after := ""; ; {
		part, next, err := v.page(ctx, m, after, largestPage)
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
