package metrics

// other is the label for a value outside its set.
const other = "other"

// closedSet is the values that a label may have.
type closedSet map[string]bool

func newClosedSet(values ...string) closedSet {
	set := closedSet{}
	for _, v := range values {
		set[v] = true
	}
	return set
}

func (s closedSet) label(value string) string {
	if s[value] {
		return value
	}
	return other
}

// The sets that are the same everywhere.
var (
	triggers  = newClosedSet("manual", "retry", "scheduled", "webhook")
	statuses  = newClosedSet("succeeded", "failed", "cancelled", "abandoned", "skipped")
	jobStates = newClosedSet("available", "scheduled", "retryable", "running", "pending", "discarded", "cancelled",
		"completed")
	pushKinds   = newClosedSet("web_push", "webhook", "ntfy")
	pushResults = newClosedSet("delivered", "failed", "retired")
	tones       = newClosedSet("green", "grey", "amber", "red")
	channels    = newClosedSet("calm", "advisory", "attention")
)
