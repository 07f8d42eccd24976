package ynab

import (
	"context"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// monthly reads what each category had in each month, a month a request and the newest first. Which months are to
// be read is what the changes of the months say, besides this month and the one before: amounts that are
// moved from one category to another leave their sums as they were.
type monthly struct {
	*api

	walk *monthWalk // nil before the first page of a run
}

// memory is what the bookmark holds of a budget.
type memory struct {
	Knowledge int64    `json:"k,omitzero"` // of the months
	Left      []string `json:"l,omitzero"` // months that are to be read
	// Categories are all that were ever met; Had tells by month which of them it had, as the bits of a number.
	Categories []string          `json:"c,omitzero"`
	Had        map[string]string `json:"h,omitzero"`
}

type monthWalk struct {
	known  map[string]*memory // by budget
	left   []string
	listed bool // the months of the budget at hand are known
	step   int  // tells the bookmarks of walks that were not finished apart
}

// base is that in which bits are written down.
const base = 36

func (m *monthly) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if m.walk == nil {
		w := &monthWalk{known: map[string]*memory{}}
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
		if json.Unmarshal([]byte(at["budgets"]), &w.known) != nil || w.known == nil {
			w.known = map[string]*memory{}
		}
		var err error
		if w.left, err = m.budgets(ctx); err != nil {
			return connectorkit.Page{}, err
		}
		m.walk = w
	}
	w := m.walk
	for len(w.left) > 0 {
		budget := w.left[0]
		if w.known[budget] == nil {
			w.known[budget] = &memory{}
		}
		records, asked, err := m.next(ctx, budget, w.known[budget])
		if err != nil {
			return connectorkit.Page{}, err
		}
		if asked {
			return w.answer(records, true), nil
		}
		w.left, w.listed = w.left[1:], false
	}
	return w.answer(nil, false), nil
}

// next makes the next request of a budget; it reports false when there is none.
func (m *monthly) next(ctx context.Context, budget string, k *memory) ([]connectorkit.Record, bool, error) {
	if !m.walk.listed {
		records, err := m.outline(ctx, budget, k)
		m.walk.listed = err == nil
		return records, true, err
	}
	if len(k.Left) == 0 {
		return nil, false, nil
	}
	month := k.Left[0]
	var wire struct {
		Month *struct {
			Categories *[]jsontext.Value `json:"categories"`
		} `json:"month"`
	}
	err := m.get(ctx, m.below(budget, "months/"+month), nil, &wire)
	switch {
	case vanished(err):
		k.Left = k.Left[1:]
		return k.forget(budget, month), true, nil
	case err != nil:
		return nil, true, err
	case wire.Month == nil || wire.Month.Categories == nil:
		return nil, true, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	k.Left = k.Left[1:]
	return k.take(budget, month, *wire.Month.Categories), true, nil
}

// outline finds out which months are to be read.
func (m *monthly) outline(ctx context.Context, budget string, k *memory) (records []connectorkit.Record, err error) {
	got, err := m.since(ctx, budget, "months", "months", k.Knowledge)
	switch {
	case vanished(err):
		return []connectorkit.Record{connectorkit.Unreadable("budget "+budget, nil)}, nil
	case err != nil:
		return nil, err
	}
	for _, raw := range got.rows {
		var row struct {
			Month   string `json:"month"`
			Deleted bool   `json:"deleted"`
		}
		undecoded := json.Unmarshal(raw, &row)
		if _, err := time.Parse(time.DateOnly, row.Month); undecoded != nil || err != nil {
			records = append(records, connectorkit.Unreadable("", undecoded))
			continue
		}
		if row.Deleted {
			records = append(records, k.forget(budget, row.Month)...)
			k.Left = slices.DeleteFunc(k.Left, func(month string) bool { return month == row.Month })
			continue
		}
		k.Left = append(k.Left, row.Month)
	}
	recent := before(m.today)
	for month := range k.Had {
		if month >= recent {
			k.Left = append(k.Left, month)
		}
	}
	slices.Sort(k.Left)
	slices.Reverse(k.Left)
	k.Left = slices.Compact(k.Left)
	k.Knowledge = got.knowledge
	return records, nil
}

// before is the month before that of a day.
func before(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day // it comes from a clock
	}
	return time.Date(t.Year(), t.Month()-1, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// take makes records of a month's categories, and deletions of those that it had and has no more.
func (k *memory) take(budget, month string, rows []jsontext.Value) (records []connectorkit.Record) {
	has, whole := new(big.Int), true
	for _, raw := range rows {
		id, rec := readMonthCategory(budget, month, raw)
		switch {
		case rec == nil: // it is marked as deleted: what is known of it is missed below
		case id == "":
			whole = false
			records = append(records, *rec)
		default:
			has.SetBit(has, k.place(id), 1)
			records = append(records, *rec)
		}
	}
	had := bits(k.Had[month])
	if whole {
		for i := range had.BitLen() {
			if had.Bit(i) == 1 && has.Bit(i) == 0 && i < len(k.Categories) {
				records = append(records, connectorkit.Delete(monthKey(budget, month, k.Categories[i])))
			}
		}
	} else {
		has.Or(has, had)
	}
	if k.Had == nil {
		k.Had = map[string]string{}
	}
	k.Had[month] = has.Text(base)
	return records
}

// forget deletes everything of a month.
func (k *memory) forget(budget, month string) []connectorkit.Record {
	records := k.take(budget, month, nil)
	delete(k.Had, month)
	return records
}

// place is the number of a category.
func (k *memory) place(id string) int {
	if i := slices.Index(k.Categories, id); i >= 0 {
		return i
	}
	k.Categories = append(k.Categories, id)
	return len(k.Categories) - 1
}

// bits reads what take wrote; anything else is none.
func bits(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, base)
	if !ok || n.Sign() < 0 {
		return new(big.Int)
	}
	return n
}

func (w *monthWalk) answer(records []connectorkit.Record, more bool) connectorkit.Page {
	text, err := json.Marshal(w.known, json.Deterministic(true))
	if err != nil {
		text = []byte("{}") // plain values have no such error
	}
	out := connectorkit.Page{Records: records, Next: connectorkit.Cursor{"budgets": string(text)}, More: more}
	if more {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
		return out
	}
	out.Whole = &connectorkit.Whole{Keys: w.keys, Gone: connectorkit.AllGone} // each month is one answer
	return out
}

// keys yields the key of every category of every month.
func (w *monthWalk) keys(yield func(string) bool) {
	for budget, k := range w.known {
		for month, text := range k.Had {
			for had, i := bits(text), 0; i < min(had.BitLen(), len(k.Categories)); i++ {
				if had.Bit(i) == 1 && !yield(monthKey(budget, month, k.Categories[i])) {
					return
				}
			}
		}
	}
}
