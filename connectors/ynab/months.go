package ynab

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// monthCategories reads what each category had in each month, one month per request, newest first. It reads the
// changed months, the current one and the one before, because moving money between categories leaves the sums of a
// month unchanged.
type monthCategories struct {
	run *rest.Run

	walk *monthCategoryWalk // nil before the first page of a run
}

func collectMonthCategories(r *rest.Run) connectorkit.Collector {
	return connectorkit.PagedStream{Stream: "month_categories", Page: (&monthCategories{run: r}).fetchNextPage}
}

// budgetBookmark is what the bookmark holds of a budget.
type budgetBookmark struct {
	Knowledge int64    `json:"k,omitzero"` // of the months
	Left      []string `json:"l,omitzero"` // months that are to be read
	// Categories lists all categories ever seen. Had holds a bit set per month of the categories in it.
	Categories []string          `json:"c,omitzero"`
	Had        map[string]string `json:"h,omitzero"`
}

type monthCategoryWalk struct {
	known  map[string]*budgetBookmark // by budget
	left   []rest.Partition
	listed bool // the months of the budget at hand are known
	step   int  // makes the bookmarks of unfinished walks different
}

// bitsetBase is that in which bits are written down.
const bitsetBase = 36

func (m *monthCategories) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if m.walk == nil {
		w := &monthCategoryWalk{known: map[string]*budgetBookmark{}}
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
		if json.Unmarshal([]byte(at["budgets"]), &w.known) != nil || w.known == nil {
			w.known = map[string]*budgetBookmark{}
		}
		var err error
		if w.left, err = budgets(ctx, m.run); err != nil {
			return connectorkit.Page{}, err
		}
		m.walk = w
	}
	w := m.walk
	for len(w.left) > 0 {
		budget := w.left[0]
		if w.known[budget.ID] == nil {
			w.known[budget.ID] = &budgetBookmark{}
		}
		records, asked, err := m.requestNextMonth(ctx, budget, w.known[budget.ID])
		if err != nil {
			return connectorkit.Page{}, err
		}
		if asked {
			return w.pageWithCursor(records, true), nil
		}
		w.left, w.listed = w.left[1:], false
	}
	return w.pageWithCursor(nil, false), nil
}

// requestNextMonth makes the next request of a budget; it returns false when there is none.
func (m *monthCategories) requestNextMonth(ctx context.Context, budget rest.Partition,
	k *budgetBookmark) ([]connectorkit.Record, bool, error) {
	if !m.walk.listed {
		records, err := m.planMonths(ctx, budget, k)
		m.walk.listed = err == nil
		return records, true, err
	}
	if len(k.Left) == 0 {
		return nil, false, nil
	}
	month := k.Left[0]
	path := "{plans}/{id}/months/" + month
	rows, err := m.run.List(ctx, rest.Request{Path: path}, budget, "data.month.categories")
	switch {
	case isNotFound(err):
		k.Left = k.Left[1:]
		return k.deleteMonth(budget.ID, month), true, nil
	case err != nil:
		return nil, true, err
	}
	k.Left = k.Left[1:]
	return k.recordsOfMonth(budget.ID, month, rows), true, nil
}

// planMonths finds out which months are to be read.
func (m *monthCategories) planMonths(ctx context.Context, budget rest.Partition,
	k *budgetBookmark) (records []connectorkit.Record, err error) {
	since := ""
	if k.Knowledge > 0 {
		since = strconv.FormatInt(k.Knowledge, 10)
	}
	rows, knowledge, _, err := m.run.Changes(ctx, "months", budget, since)
	switch {
	case isNotFound(err):
		return []connectorkit.Record{connectorkit.Unreadable("budget "+budget.ID, nil)}, nil
	case err != nil:
		return nil, err
	}
	for _, item := range rows {
		var row struct {
			Month   string `json:"month"`
			Deleted bool   `json:"deleted"`
		}
		undecoded := json.Unmarshal(item.Raw, &row)
		if _, err := time.Parse(time.DateOnly, row.Month); undecoded != nil || err != nil {
			records = append(records, connectorkit.Unreadable("", undecoded))
			continue
		}
		if row.Deleted {
			records = append(records, k.deleteMonth(budget.ID, row.Month)...)
			k.Left = slices.DeleteFunc(k.Left, func(month string) bool { return month == row.Month })
			continue
		}
		k.Left = append(k.Left, row.Month)
	}
	recent := previousMonth(m.run.Now().UTC())
	for month := range k.Had {
		if month >= recent {
			k.Left = append(k.Left, month)
		}
	}
	slices.Sort(k.Left)
	slices.Reverse(k.Left)
	k.Left = slices.Compact(k.Left)
	k.Knowledge, _ = strconv.ParseInt(knowledge, 10, 64) // zero asks for everything
	return records, nil
}

// previousMonth is the month before that of a time.
func previousMonth(t time.Time) string {
	return time.Date(t.Year(), t.Month()-1, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// isNotFound reports whether a single object does not exist.
func isNotFound(err error) bool {
	var refused *connectorkit.Error
	return errors.As(err, &refused) && refused.Class == connectorkit.NotFound
}

func monthCategoryKey(budget, month, category string) string {
	return budget + ":" + month + ":" + category
}

// readMonthCategories maps the categories of a month.
var readMonthCategories = rest.Reader(manifestJSON, rest.Stream{Name: "month_categories",
	Deleted: rest.Match{Path: "deleted"}, Fields: entityFields(rest.Fields{
		"id":    rest.Joined(":", rest.FromPartition("id"), rest.FromPartition("month"), rest.From("id")),
		"month": rest.FromPartition("month"), "category_id": rest.From("id"), "category_name": rest.From("name"),
	})})

// readMonthCategory reads a category of a month: its id and its record; no record when it is marked as deleted, no
// id when it cannot be read.
func readMonthCategory(budget, month string, raw jsontext.Value) (string, *connectorkit.Record) {
	row := readMonthCategories(rest.Item{Raw: raw,
		Partition: rest.Partition{Values: map[string]string{"id": budget, "month": month}}})
	id := strings.TrimPrefix(row.Key, monthCategoryKey(budget, month, ""))
	if row.Deleted {
		return id, nil
	}
	return id, &row.Record
}

// recordsOfMonth makes records of a month's categories, and deletions of those that it had and has no more.
func (k *budgetBookmark) recordsOfMonth(budget, month string, rows []jsontext.Value) (records []connectorkit.Record) {
	has, whole := new(big.Int), true
	for _, raw := range rows {
		id, rec := readMonthCategory(budget, month, raw)
		switch {
		case rec == nil: // it is marked as deleted: what is known of it is missed below
		case id == "":
			whole = false
			records = append(records, *rec)
		default:
			has.SetBit(has, k.categoryIndex(id), 1)
			records = append(records, *rec)
		}
	}
	had := parseBitset(k.Had[month])
	if whole {
		for i := range had.BitLen() {
			if had.Bit(i) == 1 && has.Bit(i) == 0 && i < len(k.Categories) {
				records = append(records, connectorkit.Delete(monthCategoryKey(budget, month, k.Categories[i])))
			}
		}
	} else {
		has.Or(has, had)
	}
	if k.Had == nil {
		k.Had = map[string]string{}
	}
	k.Had[month] = has.Text(bitsetBase)
	return records
}

// deleteMonth deletes everything of a month.
func (k *budgetBookmark) deleteMonth(budget, month string) []connectorkit.Record {
	records := k.recordsOfMonth(budget, month, nil)
	delete(k.Had, month)
	return records
}

// categoryIndex is the number of a category.
func (k *budgetBookmark) categoryIndex(id string) int {
	if i := slices.Index(k.Categories, id); i >= 0 {
		return i
	}
	k.Categories = append(k.Categories, id)
	return len(k.Categories) - 1
}

// parseBitset parses an encoded bit set; anything else is empty.
func parseBitset(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, bitsetBase)
	if !ok || n.Sign() < 0 {
		return new(big.Int)
	}
	return n
}

func (w *monthCategoryWalk) pageWithCursor(records []connectorkit.Record, more bool) connectorkit.Page {
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
	out.Whole = &connectorkit.Whole{Keys: w.storedKeys, Gone: connectorkit.AllKeysGone} // each month is one answer
	return out
}

// storedKeys yields the key of every category of every month.
func (w *monthCategoryWalk) storedKeys(yield func(string) bool) {
	for budget, k := range w.known {
		for month, text := range k.Had {
			for had, i := parseBitset(text), 0; i < min(had.BitLen(), len(k.Categories)); i++ {
				if had.Bit(i) == 1 && !yield(monthCategoryKey(budget, month, k.Categories[i])) {
					return
				}
			}
		}
	}
}
