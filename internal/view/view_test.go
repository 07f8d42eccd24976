package view

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

func everyKind() []evidence.Evidence {
	var all []evidence.Evidence
	for name, kind := range kinds {
		all = append(all, kind("cin_"+name))
	}
	return all
}

// One, Page and All hand out the same connection.
func TestEveryAnswerHoldsTheSameVerdict(t *testing.T) {
	t.Attr("spec", "CH-06")
	t.Attr("spec", "CH-21.1")
	s := shelve(everyKind()...)
	for name, component := range map[string]evidence.Component{
		"well":     {Name: "scheduler", Status: evidence.ProbeOK, At: noon},
		"at fault": {Name: "scheduler", Status: evidence.ProbeFailed, At: noon},
	} {
		s.runtime = evidence.Runtime{Components: []evidence.Component{component}}
		t.Run("runtime "+name, func(t *testing.T) { sameEverywhere(t, s.view()) })
	}
}

func sameEverywhere(t *testing.T, v *View) {
	t.Helper()
	page, err := v.Page(t.Context(), "", 0)
	if err != nil || len(page.Connections) != len(kinds) || page.Next != "" {
		t.Fatalf("page of %d, next %q: %v", len(page.Connections), page.Next, err)
	}
	overview, err := v.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]Connection{}
	for _, c := range overview.Connections {
		listed[c.ID] = c
	}
	for _, c := range page.Connections {
		one, err := v.One(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string]Connection{"One": one.Connection, "Explain": one.Explain().Connection,
			"All": listed[c.ID]} {
			if !reflect.DeepEqual(c, other) {
				t.Errorf("%s: %s differs from Page", c.ID, name)
			}
		}
	}
}

// A call reads the clock once, however many pages it takes.
func TestClockIsReadOncePerCall(t *testing.T) {
	var all []evidence.Evidence
	for i := range 2*largestPage + 5 {
		all = append(all, collected(fmt.Sprintf("cin_%05d", i)))
	}
	s := shelve(all...)
	v := s.view()
	calls := 0
	v.Now = func() time.Time { calls++; return noon.Add(time.Duration(calls) * time.Hour) }
	overview, err := v.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if calls != 1 || s.reads != 3 || len(overview.Connections) != len(all) || overview.Summary.Registered != len(all) {
		t.Errorf("%d clock reads, %d evidence reads, %d connections", calls, s.reads, len(overview.Connections))
	}
	for _, c := range overview.Connections {
		if !c.ObservedAt.Equal(noon.Add(time.Hour)) {
			t.Fatalf("%s observed at %s", c.ID, c.ObservedAt)
		}
	}
	for i, call := range []func() error{
		func() error { _, err := v.One(t.Context(), "cin_00001"); return err },
		func() error { _, err := v.Page(t.Context(), "", 5); return err },
	} {
		if err := call(); err != nil || calls != i+2 {
			t.Errorf("call %d: %d clock reads: %v", i, calls, err)
		}
	}
}

func TestPages(t *testing.T) {
	v := shelve(collected("a"), collected("b"), collected("c")).view()
	var got []string
	after := ""
	for {
		p, err := v.Page(t.Context(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Connections {
			got = append(got, c.ID)
		}
		if p.Next == "" {
			break
		}
		after = p.Next
	}
	if strings.Join(got, "") != "abc" {
		t.Errorf("pages gave %v", got)
	}
	// A page that ends exactly at the last connection has no next page.
	if p, err := v.Page(t.Context(), "a", 2); err != nil || p.Next != "" || len(p.Connections) != 2 {
		t.Errorf("page %+v: %v", p, err)
	}
}

func TestErrorsAreTold(t *testing.T) {
	s := shelve(collected("a"))
	v := s.view()
	if _, err := v.One(t.Context(), "nowhere"); !errors.Is(err, ErrNotFound) {
		t.Errorf("err %v", err)
	}
	s.err = context.DeadlineExceeded
	for name, call := range map[string]func() error{
		"One":       func() error { _, err := v.One(t.Context(), "a"); return err },
		"Page":      func() error { _, err := v.Page(t.Context(), "", 1); return err },
		"All":       func() error { _, err := v.All(t.Context()); return err },
		"Indicator": func() error { _, err := v.Indicator(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One fault of the runtime is one statement, not one alarm per connection.
func TestRuntimeFaultIsToldOnce(t *testing.T) {
	t.Attr("spec", "CH-28")
	t.Attr("spec", "CH-28.1")
	s := shelve(everyKind()...)
	well, err := s.view().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if well.Indicator != nil || well.Summary.Attention < 2 {
		t.Fatalf("indicator %+v, attention %d", well.Indicator, well.Summary.Attention)
	}
	faults := map[string]evidence.Component{
		"the scheduler is dead": {Name: "scheduler", Status: evidence.ProbeOK, At: *ago(time.Hour),
			EverySeconds: ptr(int64(60))},
		"the browser is down": {Name: "browser", Status: evidence.ProbeFailed, At: *ago(time.Hour)},
		"the collector is silent": {Name: "collector", Status: evidence.ProbeOK, At: *ago(time.Hour),
			EverySeconds: ptr(int64(300))},
	}
	for name, component := range faults {
		s.runtime = evidence.Runtime{Components: []evidence.Component{component}}
		down, err := s.view().All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if down.Indicator == nil || down.Indicator.Sentence == "" || len(down.Indicator.Faults) != 1 ||
			!down.Indicator.Since.Equal(*ago(time.Hour)) {
			t.Fatalf("%s: indicator %+v", name, down.Indicator)
		}
		if down.Summary.Attention != 0 || down.Summary.Calm != len(kinds) || down.Summary.NothingToSee {
			t.Errorf("%s: summary %+v", name, down.Summary)
		}
		for _, c := range down.Connections {
			if c.Verdict.Channel != verdict.Calm {
				t.Errorf("%s: %s is %s", name, c.ID, c.Verdict.Channel)
			}
			for _, w := range well.Connections {
				if w.ID == c.ID && w.Verdict.Pill != c.Verdict.Pill {
					t.Errorf("%s: %s shows %v instead of %v", name, c.ID, c.Verdict.Pill, w.Verdict.Pill)
				}
			}
		}
		if alone, err := s.view().Indicator(t.Context()); err != nil || !reflect.DeepEqual(alone, down.Indicator) {
			t.Errorf("%s: the indicator alone is %+v: %v", name, alone, err)
		}
		if page, err := s.view().Page(t.Context(), "", 3); err != nil || !reflect.DeepEqual(page.Indicator, down.Indicator) {
			t.Errorf("%s: page has %+v: %v", name, page.Indicator, err)
		}
	}
}

func TestRuntimeSentence(t *testing.T) {
	at := func(component string, d time.Duration) health.RuntimeFault {
		return health.RuntimeFault{Component: component, Reason: "silent", Since: *ago(d)}
	}
	got := runtimeIndicator(health.RuntimeIndicator{Faults: []health.RuntimeFault{at("scheduler", time.Hour),
		at("browser", 3*time.Hour), at("loom", time.Minute)}})
	want := "The scheduler, the browser that connectors use and a part of the runtime are not working, which holds up " +
		"connections that are otherwise well. Fix this first."
	if got.Sentence != want || !got.Since.Equal(*ago(3 * time.Hour)) {
		t.Errorf("%+v", got)
	}
	if runtimeIndicator(health.RuntimeIndicator{OK: true}) != nil {
		t.Error("a runtime that is well has an indicator")
	}
}
