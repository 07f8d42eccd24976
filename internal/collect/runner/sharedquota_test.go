package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// exchange is a SharedQuotas with only this run.
type exchange struct {
	err error

	mu      sync.Mutex
	claims  []QuotaClaim
	hear    func(QuotaShare)
	numbers []protocol.Numbers
	left    int
}

func (e *exchange) Join(_ context.Context, c QuotaClaim, hear func(QuotaShare)) (QuotaMember, QuotaShare, error) {
	if e.err != nil {
		return nil, QuotaShare{}, e.err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claims, e.hear = append(e.claims, c), hear
	return e, QuotaShare{Runs: 1, Learned: protocol.Numbers{"interval_ms": 250}}, nil
}

func (e *exchange) Publish(news, learned protocol.Numbers) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.numbers = append(e.numbers, news, learned)
}

func (e *exchange) Leave(context.Context) { e.left++ }

const claim = `{"type":"ALLOWANCE","request_id":"a1","sender":"api","provider":"notes","account":"ann@meadow.example"}`

// A run joins an allowance, hears of every change that others make and leaves with its end; what names the account
// is in nothing that it leaves behind.
func TestAllowanceIsShared(t *testing.T) {
	d, e := newDialogue(t, "notes"), &exchange{}
	d.spec.SharedQuotas = e
	o := d.play(t.Context(), func(conn *connector) int {
		if !conn.start().Allowances {
			t.Error("START does not say that allowances are understood")
		}
		hear := func(want protocol.AllowanceShare) {
			t.Helper()
			got, _ := conn.hear().(*protocol.AllowanceShare)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		conn.line(claim)
		hear(protocol.AllowanceShare{RequestID: "a1", Sender: "api", Runs: 1, Learned: protocol.Numbers{"interval_ms": 250}})
		news := protocol.AllowanceNews{From: 7, Runs: 3, Place: 0, Numbers: protocol.Numbers{"at_ms": 1}}
		e.hear(QuotaShare{Runs: 3, Place: 1, News: []protocol.AllowanceNews{news}})
		hear(protocol.AllowanceShare{Sender: "api", Runs: 3, Place: 1, News: []protocol.AllowanceNews{news}})
		later := news
		later.Numbers = protocol.Numbers{"at_ms": 2}
		e.hear(QuotaShare{Runs: 2, Place: 1, News: []protocol.AllowanceNews{news}}) // during the pause between two updates
		e.hear(QuotaShare{Runs: 2, Place: 0, News: []protocol.AllowanceNews{later}})
		hear(protocol.AllowanceShare{Sender: "api", Runs: 2, Place: 0, News: []protocol.AllowanceNews{later}})
		conn.line(`{"type":"ALLOWANCE","sender":"api","news":{"at_ms":3}}`)
		conn.line(`{"type":"ALLOWANCE","sender":"api","learned":{"interval_ms":300}}`)
		return conn.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	if diff := cmp.Diff([]QuotaClaim{{"api", "notes", "ann@meadow.example"}}, e.claims); diff != "" || e.left != 1 {
		t.Errorf("left %d times (-want +got):\n%s", e.left, diff)
	}
	if diff := cmp.Diff([]protocol.Numbers{{"at_ms": 3}, nil, nil, {"interval_ms": 300}}, e.numbers); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if strings.Contains(fmt.Sprintf("%+v %+v", &d.memory, o), "meadow") {
		t.Error("the account is left behind")
	}
}

// A run that cannot join a quota continues without sharing.
func TestAllowanceThatCannotBeJoined(t *testing.T) {
	d := newDialogue(t, "notes")
	d.spec.SharedQuotas = &exchange{err: errors.New("no route")}
	mustSucceed(t, d.play(t.Context(), func(conn *connector) int {
		conn.start()
		conn.line(claim)
		if got, _ := conn.hear().(*protocol.AllowanceShare); got == nil || got.Runs != 1 || got.Place != 0 {
			t.Errorf("the share is %+v", got)
		}
		conn.line(`{"type":"ALLOWANCE","sender":"api","news":{"at_ms":3}}`)
		return conn.done(protocol.DoneSucceeded)
	}))
}

// What does not belong is refused, without a word of the account.
func TestAllowanceGate(t *testing.T) {
	var many []string
	for i := range protocol.MaxAllowances + 1 {
		many = append(many, fmt.Sprintf(`{"type":"ALLOWANCE","request_id":"a%d","sender":"s%d","provider":"meadow",`+
			`"address":true}`, i, i))
	}
	for name, c := range map[string]struct {
		shared bool
		lines  []string
		want   string
	}{
		"not offered": {false, []string{claim}, "no ALLOWANCE: START does not say that it is understood"},
		"not joined": {true, []string{`{"type":"ALLOWANCE","sender":"api","news":{"n":1}}`},
			"news of a sender that draws on an allowance"},
		"twice":    {true, []string{claim, claim}, "one allowance of each sender"},
		"too many": {true, many, "at most 8 allowances of a run"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			if c.shared {
				d.spec.SharedQuotas = &exchange{}
			}
			o := d.play(t.Context(), func(conn *connector) int {
				conn.start()
				for _, l := range c.lines {
					if conn.line(l); c.shared && l != c.lines[len(c.lines)-1] {
						conn.hear()
					}
				}
				return conn.done(protocol.DoneSucceeded)
			})
			if o.Failure == nil || o.Failure.Violation == nil || o.Failure.Violation.Expected[0] != c.want ||
				strings.Contains(fmt.Sprintf("%+v", o), "meadow") {
				t.Errorf("%+v", o.Failure)
			}
		})
	}
}

// A connector that publishes without end is limited.
func TestAllowanceNewsAreBounded(t *testing.T) {
	d, e := newDialogue(t, "notes"), &exchange{}
	d.spec.SharedQuotas = e
	mustSucceed(t, d.play(t.Context(), func(conn *connector) int {
		conn.start()
		conn.line(claim)
		conn.hear()
		for range 5000 {
			conn.line(`{"type":"ALLOWANCE","sender":"api","news":{"at_ms":3}}`)
		}
		return conn.done(protocol.DoneSucceeded)
	}))
	if n := len(e.numbers) / 2; n < quotaPublishBurst || n > 2500 {
		t.Errorf("%d of 5000 were passed on", n)
	}
}
