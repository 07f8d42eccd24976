package ynab

import (
	"fmt"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows; each changes one thing of a budget.
var operations = map[string]func(y *YNAB, b *budget) string{
	// Something is bought: the balance of its account changes, too.
	"buy": func(y *YNAB, b *budget) string {
		t := y.addTransaction(b, y.cfg.Now())
		for _, a := range b.live(accounts) {
			if a.id == t.data["account_id"] {
				a.data["balance"] = a.data["balance"].(int) + t.data["amount"].(int)
				b.touch(a)
			}
		}
		return t.id
	},
	// An old one is edited: its date stays.
	"edit": func(y *YNAB, b *budget) string {
		t := y.pick(b, trans)
		t.data["memo"] = fmt.Sprintf("edited at %d", b.knowledge)
		b.touch(t)
		return t.id
	},
	"delete": func(y *YNAB, b *budget) string { return b.drop(y.pick(b, trans)) },
	"rename_payee": func(y *YNAB, b *budget) string {
		p := y.pick(b, payees)
		p.data["name"] = fmt.Sprintf("Shop renamed at %d", b.knowledge)
		b.touch(p)
		for _, t := range b.live(trans) {
			if t.data["payee_id"] == p.id {
				t.data["payee_name"] = p.data["name"]
				b.touch(t)
			}
		}
		return p.id
	},
	"delete_category": func(y *YNAB, b *budget) string {
		c := y.pick(b, cats)
		for _, m := range b.live(months) {
			b.touch(m)
		}
		return b.drop(c)
	},
	// Money is moved between two categories of this month: its sums stay.
	"move": func(y *YNAB, b *budget) string {
		day := y.firstOf(0).Format("2006-01-02")
		one, other := y.pick(b, cats), y.pick(b, cats)
		b.moved[day+one.id] += 5000
		b.moved[day+other.id] -= 5000
		return one.id
	},
	// An old month is assigned anew.
	"assign": func(y *YNAB, b *budget) string {
		m := y.pick(b, months)
		m.data["budgeted"] = m.data["budgeted"].(int) + 10
		b.moved[m.data["month"].(string)+y.pick(b, cats).id] += 10
		b.touch(m)
		return ""
	},
	"move_money": func(y *YNAB, b *budget) string { y.moveMoney(b, 0); return "" },
	"forget_place": func(y *YNAB, b *budget) string {
		t := y.pick(b, places)
		t.gone = true // nothing tells
		return t.id
	},
	"reschedule": func(y *YNAB, b *budget) string {
		t := y.pick(b, scheduled)
		t.data["amount"] = t.data["amount"].(int) - 1
		b.touch(t)
		return t.id
	},
	"hide_group": func(y *YNAB, b *budget) string {
		g := y.pick(b, groups)
		g.data["hidden"] = true
		b.touch(g)
		return g.id
	},
	"add_budget":  func(y *YNAB, _ *budget) string { return y.addBudget().id },
	"drop_budget": func(_ *YNAB, b *budget) string { b.gone = true; return b.id },
	// The budget is restored from an older state: its numbers begin again.
	"rewind": func(_ *YNAB, b *budget) string {
		for _, all := range b.all {
			for _, t := range all {
				t.at = 1
			}
		}
		b.knowledge = 1
		return b.id
	},
	"lapse": func(y *YNAB, _ *budget) string { y.lapsed = true; return "" },
}

func (b *budget) drop(t *thing) string {
	t.gone = true
	b.touch(t)
	return t.id
}

// Mutate runs an operation N times, each in one of the budgets; "allow" sets how many requests an hour has.
func (y *YNAB) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	out := providersim.Mutated{Op: m.Op, Now: y.cfg.Now()}
	if m.Op == "allow" {
		y.cfg.Rate = m.N
		return out, nil
	}
	operate, known := operations[m.Op]
	if !known || m.N < 1 || m.N > 10_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %q of %d is not known", m.Op, m.N)
	}
	for range m.N {
		var there []*budget
		for _, b := range y.budgets {
			if !b.gone {
				there = append(there, b)
			}
		}
		b := there[y.choice.IntN(len(there))]
		out.IDs = append(out.IDs, operate(y, b))
	}
	return out, nil
}
