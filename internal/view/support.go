package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Case is a judgement that can be reproduced elsewhere: evidence, time and whether the runtime worked. The judge tool
// reads it.
type Case struct {
	Evidence  evidence.Evidence `json:"evidence"`
	Now       time.Time         `json:"now"`
	RuntimeOK bool              `json:"runtime_ok"`
}

// Case returns the judgement's input with its evidence redacted.
func (j *Judgement) Case() Case {
	return Case{Evidence: Redact(j.Evidence), Now: j.ObservedAt, RuntimeOK: j.Indicator == nil}
}

// Redact returns evidence that may be shown to others: neutral names, reasons as codes, no free text. State, pill and
// channel stay the same.
func Redact(e *evidence.Evidence) evidence.Evidence {
	r := *e
	r.Connection.DisplayName = "Connection"
	if e.Refresh != nil {
		policy := *e.Refresh
		policy.Rationale = ""
		r.Refresh = &policy
	}
	if e.LastRun != nil {
		run := *e.LastRun
		run.ID, run.Trigger = redactID(run.ID), redactReason(run.Trigger)
		run.Failure = redactFailure(run.Failure)
		r.LastRun = &run
	}
	if e.Active != nil {
		active := *e.Active
		active.ID = redactID(active.ID)
		r.Active = &active
	}
	r.Waits = slices.Clone(e.Waits)
	for i := range r.Waits {
		w := &r.Waits[i]
		redactCode(&w.Reason)
		if !plainCode(w.Sender) {
			w.Sender = fmt.Sprintf("sender %d", i+1) // connectors choose the names of their senders
		}
	}
	if e.Backoff != nil {
		b := *e.Backoff
		b.Class = redactReason(b.Class)
		r.Backoff = &b
	}
	if e.Credential != nil {
		c := *e.Credential
		c.Reason = redactReason(c.Reason)
		r.Credential = &c
	}
	if e.Gaps != nil {
		g := *e.Gaps
		g.Groups = slices.Clone(g.Groups)
		for i := range g.Groups {
			redactCode(&g.Groups[i].Reason)
		}
		r.Gaps = &g
	}
	r.Streams = slices.Clone(e.Streams)
	for i := range r.Streams {
		r.Streams[i].Fact = redactFact(r.Streams[i].Fact)
	}
	r.Probes = redactProbes(e.Probes)
	r.Attention = slices.Clone(e.Attention)
	for i := range r.Attention {
		a := &r.Attention[i]
		a.Reason, a.Target, a.RunID = redactReason(a.Reason), "", redactID(a.RunID)
	}
	r.Device = redactDevice(e.Device)
	if e.Rate != nil && e.Rate.LastBackoff != nil {
		rate, backoff := *e.Rate, *e.Rate.LastBackoff
		redactCode(&backoff.Reason)
		rate.LastBackoff = &backoff
		r.Rate = &rate
	}
	return r
}

// redactFailure drops the message, except for the word browser, which names the missing part of the runtime.
func redactFailure(f *evidence.Failure) *evidence.Failure {
	if f == nil {
		return nil
	}
	out := *f
	out.Message = ""
	if strings.HasSuffix(f.Message, "browser") {
		out.Message = "browser"
	}
	out.Reason, out.Origin, out.Code = redactReason(f.Reason), redactReason(f.Origin), redactOwnCode(f)
	redactCode(&out.Action)
	return &out
}

func redactFact(f *evidence.Fact) *evidence.Fact {
	if f == nil {
		return nil
	}
	out := *f
	out.RunID = redactID(f.RunID)
	if f.Skip != nil {
		skip := redactSkip(*f.Skip)
		out.Skip = &skip
	}
	return &out
}

// redactID keeps the id of a run. The id of a device's run is text from the device.
func redactID(id string) string {
	if id == "" || plainID(id) {
		return id
	}
	return redactedCode
}

// redactProbes keeps different names different.
func redactProbes(probes []evidence.Probe) []evidence.Probe {
	out := slices.Clone(probes)
	var names []string
	for i := range out {
		p := &out[i]
		p.Reason = redactReason(p.Reason)
		if p.Name == "" || plainCode(p.Name) {
			continue
		}
		n := slices.Index(names, p.Name)
		if n < 0 {
			n, names = len(names), append(names, p.Name)
		}
		p.Name = fmt.Sprintf("name %d", n+1)
	}
	return out
}

func redactDevice(d *evidence.Device) *evidence.Device {
	if d == nil {
		return nil
	}
	out := *d
	out.Sources = slices.Clone(d.Sources)
	for i := range out.Sources {
		s := &out.Sources[i]
		if s.Host != "" {
			s.Host = fmt.Sprintf("host %d", i+1)
		}
		if !plainID(s.ID) {
			s.ID = "not plain" // as before, no command is made from it
		}
	}
	out.Stores = slices.Clone(d.Stores)
	for i := range out.Stores {
		out.Stores[i].Store = fmt.Sprintf("store %d", i+1)
		redactCode(&out.Stores[i].Stream)
		redactCode(&out.Stores[i].Status)
	}
	return &out
}
