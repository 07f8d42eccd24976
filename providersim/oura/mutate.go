package oura

import (
	"fmt"

	"github.com/pdpp-go/pdpp/providersim"
)

// window is for how many days Oura still changes documents.
const window = 10

// operations are the mutations that the control port knows; they concern the last days.
var operations = map[string]func(o *Oura) string{
	// The ring was read late.
	"sync_late": func(o *Oura) string { return o.add("sleep", o.today().AddDate(0, 0, -o.choice.IntN(window))).id },
	"rescore":   func(o *Oura) string { return o.any("daily_readiness", func(d *document) { d.revision++ }) },
	"recount":   func(o *Oura) string { return o.any("daily_activity", func(d *document) { d.revision++ }) },
	// A night is analysed anew: another id takes its place.
	"reanalyse": func(o *Oura) string {
		return o.any("sleep", func(d *document) { d.gone = true; o.add("sleep", d.day).revision = 3 })
	},
	"stress": func(o *Oura) string { return o.any("daily_stress", func(d *document) { d.revision++ }) },
	// The person ends a rest mode, which began long before.
	"end_rest": func(o *Oura) string {
		for _, d := range o.all["rest_mode_period"] {
			if d.revision == 0 && d.day.After(o.today().AddDate(0, 0, -90)) {
				d.revision = 1
				return d.id
			}
		}
		return ""
	},
	"discard":  func(o *Oura) string { return o.any("sleep", func(d *document) { d.deleted = true }) },
	"outdated": func(o *Oura) string { o.outdated = true; return "" },
}

// Mutate runs an operation N times.
func (o *Oura) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	operate, known := operations[m.Op]
	if !known || m.N < 1 || m.N > 10_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %q of %d is not known", m.Op, m.N)
	}
	out := providersim.Mutated{Op: m.Op, Now: o.cfg.Now()}
	for range m.N {
		out.IDs = append(out.IDs, operate(o))
	}
	return out, nil
}

// any changes one of the documents of the last days, chosen at random.
func (o *Oura) any(collection string, change func(*document)) string {
	var pool []*document
	for _, d := range o.all[collection] {
		if !d.gone && !d.deleted && d.day.After(o.today().AddDate(0, 0, -window)) {
			pool = append(pool, d)
		}
	}
	if len(pool) == 0 {
		return ""
	}
	d := pool[o.choice.IntN(len(pool))]
	change(d)
	return d.id
}
