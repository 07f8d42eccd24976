package health

// board is the conditions by what they are about, for the rules below.
type board struct {
	reliable, schedule, retry, attention, collection, credentials, continuity, runtime, surface,
	exporter, backlog, coverage, fresh *Condition

	manualOnly bool
	outbox     Outbox
}

// newBoard lays out conditions that are in the order of ConditionTypes.
func newBoard(all []Condition, r *reading) board {
	return board{
		reliable: &all[0], schedule: &all[1], retry: &all[2], attention: &all[3], collection: &all[4],
		credentials: &all[5], continuity: &all[6], runtime: &all[7], surface: &all[8],
		exporter: &all[9], backlog: &all[10], coverage: &all[11], fresh: &all[12],
		manualOnly: r.manualOnly, outbox: r.outbox.Axis,
	}
}

// failing gives the condition if it does not hold, at the severity if one is named.
func failing(c *Condition, severity Severity) *Condition {
	if c.Fails() && (severity == "" || c.Severity == severity) {
		return c
	}
	return nil
}

// headline is what a rule decides: the dominant condition and the reason to show.
type headline struct {
	dominant *Condition
	reason   Text
}

// headlineRule is one line of the precedence of headlines.
type headlineRule struct {
	Name  string
	When  string
	State State
	match func(*board) (headline, bool)
}

func byCondition(c *Condition) (headline, bool) {
	if c == nil {
		return headline{}, false
	}
	return headline{c, c.ReasonCode}, true
}

// silently decides without a reason to show.
func silently(c *Condition, holds bool) (headline, bool) { return headline{dominant: c}, holds }

// headlineRules are tried in order; the first that matches decides. Evidence
// that expired or was superseded is not current and matches nowhere.
var headlineRules = []headlineRule{
	{"unreadable evidence", "ProjectionReliable is false", Unknown,
		func(b *board) (headline, bool) { return silently(b.reliable, b.reliable.Fails()) }},
	{"open question", "AttentionClear is false", NeedsAttention,
		func(b *board) (headline, bool) { return byCondition(failing(b.attention, "")) }},
	{"paused by the owner", "ScheduleEligible is false", Idle,
		func(b *board) (headline, bool) { return silently(b.schedule, b.schedule.Fails()) }},
	{"credential missing", "CredentialsValid is false at severity blocked", Blocked,
		func(b *board) (headline, bool) { return byCondition(failing(b.credentials, BlockedSeverity)) }},
	{"runtime missing", "RuntimeAvailable is false at severity blocked", Blocked,
		func(b *board) (headline, bool) { return byCondition(failing(b.runtime, BlockedSeverity)) }},
	{"scheduler gave up", "RetryPolicyClear is false at severity blocked", Blocked,
		func(b *board) (headline, bool) { return byCondition(failing(b.retry, BlockedSeverity)) }},
	{"degrading condition", "a degrading condition is false", Degraded,
		func(b *board) (headline, bool) { return byCondition(b.worstDegrading()) }},
	{"active backoff", "RetryPolicyClear is false", CoolingOff,
		func(b *board) (headline, bool) { return byCondition(failing(b.retry, "")) }},
	{"fresh without a collection", "CollectionSucceeded is unknown, Fresh is true, and no device is uploading", Unknown,
		func(b *board) (headline, bool) {
			return headline{b.collection, "collection"}, b.collection.Status == StatusUnknown && b.fresh.Holds() && b.outbox != OutboxActive
		}},
	{"remote browser unknown", "RemoteSurfaceAvailable is unknown", Unknown,
		func(b *board) (headline, bool) {
			return headline{b.surface, Text(b.surface.Reason)}, b.surface.Status == StatusUnknown
		}},
	{"device silent", "CollectionSucceeded is true by a run, a device feeds the connection as well, and LocalExporterAvailable is unknown", Unknown,
		func(b *board) (headline, bool) {
			return headline{b.exporter, Text(b.exporter.Reason)}, b.exporter.Status == StatusUnknown && b.collection.Holds()
		}},
	{"manual refresh due", "only the owner refreshes, Fresh is false (stale_manual_refresh), CollectionSucceeded and SourceCoverageComplete are true", Idle,
		func(b *board) (headline, bool) {
			due := b.manualOnly && b.fresh.Fails() && b.fresh.Reason == ReasonStaleManual
			return headline{b.fresh, ReasonStaleManual}, due && b.collection.Holds() && b.coverage.Holds()
		}},
	{"never collected", "CollectionSucceeded is unknown", Idle,
		func(b *board) (headline, bool) { return silently(b.collection, b.collection.Status == StatusUnknown) }},
	{"all good", "CollectionSucceeded, SourceCoverageComplete and Fresh are true, and nothing before was false", Healthy,
		func(b *board) (headline, bool) {
			return silently(b.collection, b.collection.Holds() && b.coverage.Holds() && b.fresh.Holds())
		}},
	{"unclassified", "otherwise", Unknown,
		func(b *board) (headline, bool) { return headline{b.firstUnknown(), "unclassified"}, true }},
}

// Degrading reports whether the condition lowers a connection to degraded: it is
// currently false, above info, and no rule of its own judges it.
func Degrading(c *Condition) bool {
	if !c.Fails() || c.Severity == Info {
		return false
	}
	switch c.Type {
	case ProjectionReliable, AttentionClear, ScheduleEligible, RetryPolicyClear, CredentialsValid:
		return false
	default:
		return true
	}
}

// worstDegrading names what is closest to the cause first.
func (b *board) worstDegrading() *Condition {
	for _, c := range [...]*Condition{b.runtime, b.surface, b.exporter, b.backlog, b.collection, b.coverage, b.fresh, b.continuity} {
		if Degrading(c) {
			return c
		}
	}
	return nil
}

// firstUnknown is what keeps a connection from being called healthy.
func (b *board) firstUnknown() *Condition {
	if !b.coverage.Holds() {
		return b.coverage
	}
	return b.fresh
}

// decide gives the rule that applies and what it says.
func (b *board) decide() (*headlineRule, headline) {
	for i := range headlineRules {
		if h, ok := headlineRules[i].match(b); ok {
			return &headlineRules[i], h
		}
	}
	return &headlineRules[len(headlineRules)-1], headline{}
}
