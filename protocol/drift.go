package protocol

import (
	"regexp"
	"strings"
)

// AnswerDrift reports how the answers of a provider differ from what the connector expects. It
// holds paths of members, kinds and counts, never content.
type AnswerDrift struct {
	// Answers is the number of responses that were compared. Differences replace those of an earlier run only if
	// it is not zero.
	Answers     int64              `json:"answers,omitzero"`
	Differences []AnswerDifference `json:"differences,omitempty"`
	// More counts the differences that are left out of the list.
	More int64 `json:"more,omitzero"`
	// Total compares the provider's own number with what a complete walk listed.
	Total *AnnouncedTotal `json:"total,omitzero"`
	// Beginning reports that the stream was read from nothing.
	Beginning *HistoryBeginning `json:"beginning,omitzero"`
}

// AnswerDifference is one way in which answers differ.
type AnswerDifference struct {
	Kind   DifferenceKind `json:"kind"`
	Route  string         `json:"route,omitzero"`  // as in "GET v1/rooms/*/state": method, and a path without data
	Member string         `json:"member,omitzero"` // as in "entries/[]/author"
	// Expected and Found are kinds of values, for example "text" or "number|null".
	Expected string `json:"expected,omitzero"`
	Found    string `json:"found,omitzero"`
	// Count is the number of occurrences; for a small page, of its items.
	Count int64 `json:"count"`
	// Of is the number of objects or numbers that were compared; for a small page, of the requested items.
	Of int64 `json:"of,omitzero"`
}

// AnnouncedTotal is a provider's own count, and what was listed.
type AnnouncedTotal struct {
	Announced int64 `json:"announced"`
	Counted   int64 `json:"counted"`
}

// Short reports whether fewer items were listed than announced.
func (t *AnnouncedTotal) Short() bool { return t != nil && t.Counted < t.Announced }

// HistoryBeginning is the start of the history of a stream that was read from the beginning.
type HistoryBeginning struct {
	// Days is the age of the oldest record if that is exactly a usual bound, else zero.
	Days int64 `json:"days"`
}

// Suspicious reports whether the history begins where a provider could have cut it off.
func (b *HistoryBeginning) Suspicious() bool { return b != nil && b.Days > 0 }

// Any reports whether anything differs.
func (d *AnswerDrift) Any() bool {
	return d != nil && (len(d.Differences) > 0 || d.Total != nil && d.Total.Announced != d.Total.Counted ||
		d.Beginning.Suspicious())
}

// After returns the findings that apply after a run: its own, and earlier ones about parts that it did not
// measure. It returns nil if nothing differs.
func (d *AnswerDrift) After(before *AnswerDrift) *AnswerDrift {
	out := AnswerDrift{}
	if d != nil {
		out = *d
	}
	if before != nil {
		if out.Answers == 0 && len(out.Differences) == 0 {
			out.Answers, out.Differences, out.More = before.Answers, before.Differences, before.More
		}
		if out.Total == nil {
			out.Total = before.Total
		}
		if out.Beginning == nil {
			out.Beginning = before.Beginning
		}
	}
	if !out.Any() {
		return nil
	}
	return &out
}

// DifferenceKind is how an answer differs.
type DifferenceKind string

const (
	NewMember    DifferenceKind = "new_member"    // a member that the connector does not know
	AbsentMember DifferenceKind = "absent_member" // a member that every object should have, and none had
	OtherType    DifferenceKind = "other_type"    // a value of another kind
	OtherTotal   DifferenceKind = "other_total"   // a number that need not be exact, above what was listed
	SmallPage    DifferenceKind = "small_page"    // a list that ends with a page smaller than asked for, of a round size
)

// DifferenceKinds lists them.
var DifferenceKinds = []DifferenceKind{NewMember, AbsentMember, OtherType, OtherTotal, SmallPage}

// MaxDifferences bounds the differences of one stream in one run.
const MaxDifferences = 64

// HistoryBounds are the ages in days at which providers cut a history off.
var HistoryBounds = []int64{7, 30, 90, 365}

// HiddenMember replaces a member name that could be data.
const HiddenMember = "?"

var (
	plainMember = regexp.MustCompile(`^[A-Za-z_$@][A-Za-z0-9_.$-]{0,47}$`)
	plainRoute  = regexp.MustCompile(`^[A-Z]{3,12} [A-Za-z0-9_.$@*:/~-]{0,200}$`)
	plainKinds  = regexp.MustCompile(`^(object|list|text|number|flag|null)(\|(object|list|text|number|flag|null)){0,5}$`)
)

// PlainMember reports whether a member's name is certainly a name and not data, such as the id of
// a person under which a map holds something.
func PlainMember(name string) bool {
	if !plainMember.MatchString(name) {
		return false
	}
	digits, changes, was := 0, 0, false
	for i := range len(name) {
		is := name[i] >= '0' && name[i] <= '9'
		if is {
			digits++
		}
		if i > 0 && is != was {
			changes++
		}
		was = is
	}
	return digits <= 4 && changes <= 3
}

func plainPath(path string) bool {
	if len(path) > 300 {
		return false
	}
	for step := range strings.SplitSeq(path, "/") {
		if step != "[]" && step != "*" && step != HiddenMember && !PlainMember(strings.ReplaceAll(step, "~", "_")) {
			return false
		}
	}
	return true
}

// Check returns the first rule that the report breaks; nil when it breaks none.
func (d *AnswerDrift) Check() *Violation {
	rules := []messageRule{
		{min(d.Answers, d.More) >= 0, "answer_drift: numbers >= 0"},
		{len(d.Differences) <= MaxDifferences, "answer_drift.differences: at most 64"},
	}
	if t := d.Total; t != nil {
		rules = append(rules, messageRule{min(t.Announced, t.Counted) >= 0, "answer_drift.total: numbers >= 0"})
	}
	if b := d.Beginning; b != nil {
		rules = append(rules, messageRule{b.Days == 0 || isHistoryBound(b.Days),
			"answer_drift.beginning.days: 0, 7, 30, 90 or 365"})
	}
	for i := range d.Differences {
		one := &d.Differences[i]
		rules = append(rules,
			enumRule("answer_drift.differences.kind", one.Kind, DifferenceKinds),
			messageRule{one.Route == "" || plainRoute.MatchString(one.Route),
				"answer_drift.differences.route: a method and a path without data"},
			messageRule{one.Member == "" || plainPath(one.Member),
				"answer_drift.differences.member: names of members, [], * and ?"},
			messageRule{one.Expected == "" || plainKinds.MatchString(one.Expected),
				"answer_drift.differences.expected: kinds of values"},
			messageRule{one.Found == "" || plainKinds.MatchString(one.Found), "answer_drift.differences.found: kinds of values"},
			messageRule{one.Count > 0 && one.Of >= 0, "answer_drift.differences: counts"},
		)
	}
	return firstBroken(rules...)
}

func isHistoryBound(days int64) bool {
	for _, b := range HistoryBounds {
		if days == b {
			return true
		}
	}
	return false
}
