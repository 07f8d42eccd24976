package ynab

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// operations are the mutations of the control port; each changes one object of a random budget.
func (y *YNAB) operations() map[string]func() string {
	in := func(operate func(b *budget) string) func() string {
		return rest.Edit(y.Service, y.liveBudgets, nil, operate)
	}
	edit := func(collection string, change func(b *budget, t *rest.Row)) func() string {
		return in(func(b *budget) string {
			t := y.pickRow(b, collection)
			change(b, t)
			b.Touch(t)
			return t.ID
		})
	}
	return map[string]func() string{
		// Something is bought: the balance of its account changes, too.
		"buy": in(func(b *budget) string {
			t := y.addTransaction(b, y.Now())
			a := b.Find(collectionAccounts, t.Data["account_id"].(string))
			a.Data["balance"] = a.Data["balance"].(int) + t.Data["amount"].(int)
			b.Touch(a)
			return t.ID
		}),
		// An old one is edited: its date stays.
		"edit": edit(collectionTransactions, func(b *budget, t *rest.Row) {
			t.Data["memo"] = fmt.Sprintf("edited at %d", b.Seq)
		}),
		"delete": edit(collectionTransactions, func(_ *budget, t *rest.Row) { t.Gone = true }),
		"rename_payee": edit(collectionPayees, func(b *budget, p *rest.Row) {
			p.Data["name"] = fmt.Sprintf("Shop renamed at %d", b.Seq)
			for _, t := range b.Live(collectionTransactions) {
				if t.Data["payee_id"] == p.ID {
					t.Data["payee_name"] = p.Data["name"]
					b.Touch(t)
				}
			}
		}),
		"delete_category": edit(collectionCategories, func(b *budget, c *rest.Row) {
			c.Gone = true
			for _, m := range b.Live(collectionMonths) {
				b.Touch(m)
			}
		}),
		// Money is moved between two categories of this month: its sums stay.
		"move": in(func(b *budget) string {
			day := y.firstOfMonth(0).Format(time.DateOnly)
			one, other := y.pickRow(b, collectionCategories), y.pickRow(b, collectionCategories)
			b.moved[day+one.ID] += 5000
			b.moved[day+other.ID] -= 5000
			return one.ID
		}),
		// An old month is assigned again.
		"assign": edit(collectionMonths, func(b *budget, m *rest.Row) {
			m.Data["budgeted"] = m.Data["budgeted"].(int) + 10
			b.moved[m.Data["month"].(string)+y.pickRow(b, collectionCategories).ID] += 10
		}),
		"move_money": in(func(b *budget) string { y.addMoneyMovements(b, 0); return "" }),
		// Nothing announces it.
		"forget_place": in(func(b *budget) string { t := y.pickRow(b, collectionLocations); t.Gone = true; return t.ID }),
		"reschedule": edit(collectionScheduled, func(_ *budget, t *rest.Row) {
			t.Data["amount"] = t.Data["amount"].(int) - 1
		}),
		"hide_group":  edit(collectionGroups, func(_ *budget, g *rest.Row) { g.Data["hidden"] = true }),
		"add_budget":  func() string { return y.generateBudget().id },
		"drop_budget": in(func(b *budget) string { b.gone = true; return b.id }),
		// The budget is restored from an older state: its numbers begin again.
		"rewind": in(func(b *budget) string {
			for _, rows := range b.Rows {
				for _, t := range rows {
					t.Seq = 1
				}
			}
			b.Seq = 1
			return b.id
		}),
		"lapse": func() string { y.lapsed = true; return "" },
	}
}
