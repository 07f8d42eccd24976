package health

// board holds the conditions by type for headlineRules.
type board struct {
	reliable, schedule, retry, attention, collection, credentials, continuity, runtime, surface,
	exporter, backlog, coverage, fresh *Condition

	manualOnly bool
	outbox     Outbox
}

// newBoard expects the conditions in the order of ConditionTypes.
func newBoard(all []Condition, r *reading) board {
	return board{
		reliable: &all[0], schedule: &all[1], retry: &all[2], attention: &all[3], collection: &all[4],
		credentials: &all[5], continuity: &all[6], runtime: &all[7], surface: &all[8],
		exporter: &all[9], backlog: &all[10], coverage: &all[11], fresh: &all[12],
		manualOnly: r.manualOnly, outbox: r.outbox.Axis,
	}
}

// failing returns the condition if it fails, and has the severity unless that is empty.
func failing(c *Condition, severity Severity) *Condition {
	if c.Fails() && (severity == "" || c.Severity == severity) {
		return c
	}
	return nil
}

// headline is a rule's result: the dominant condition and the reason to show.
type headline struct {
	dominant *Condition
	reason   Text
}

// headlineRule is one row of headlineRules.
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

// withoutReason returns a headline that shows no reason.
func withoutReason(c *Condition, holds bool) (headline, bool) { return headline{dominant: c}, holds }

// headlineRules are tried in order; the first match decides. Expired or superseded evidence is not current and never
// matches.
var headlineRules = []headlineRule{
	{"unreadable evidence", "ProjectionReliable is false", Unknown,
		func(b *board) (headline, bool) { return withoutReason(b.reliable, b.reliable.Fails()) }},
	{"open question", "AttentionClear is false", NeedsAttention,
		func(b *board) (headline, bool) { return byCondition(failing(b.attention, "")) }},
	{"paused by the owner", "ScheduleEligible is false", Idle,
		func(b *board) (headline, bool) { return withoutReason(b.schedule, b.schedule.Fails()) }},
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
			return headline{b.collection, "collection"}, b.collection.Status == StatusUnknown && b.fresh.Holds() &&
				b.outbox != OutboxActive
		}},
	{"remote browser unknown", "RemoteSurfaceAvailable is unknown", Unknown,
		func(b *board) (headline, bool) {
			return headline{b.surface, Text(b.surface.Reason)}, b.surface.Status == StatusUnknown
		}},
	{"device silent", "CollectionSucceeded is true by a run, a device feeds the connection as well, and " +
		"LocalExporterAvailable is unknown", Unknown,
		func(b *board) (headline, bool) {
			return headline{b.exporter, Text(b.exporter.Reason)}, b.exporter.Status == StatusUnknown && b.collection.Holds()
		}},
	{"manual refresh due", "only the owner refreshes, Fresh is false (stale_manual_refresh), CollectionSucceeded and " +
		"SourceCoverageComplete are true", Idle,
		func(b *board) (headline, bool) {
			due := b.manualOnly && b.fresh.Fails() && b.fresh.Reason == ReasonStaleManual
			return headline{b.fresh, ReasonStaleManual}, due && b.collection.Holds() && b.coverage.Holds()
		}},
	{"never collected", "CollectionSucceeded is unknown", Idle,
		func(b *board) (headline, bool) {
			return withoutReason(b.collection, b.collection.Status == StatusUnknown)
		}},
	{"all good", "CollectionSucceeded, SourceCoverageComplete and Fresh are true, and nothing before was false", Healthy,
		func(b *board) (headline, bool) {
			return withoutReason(b.collection, b.collection.Holds() && b.coverage.Holds() && b.fresh.Holds())
		}},
	{"unclassified", "otherwise", Unknown,
		func(b *board) (headline, bool) { return headline{b.firstUnknown(), "unclassified"}, true }},
}

// Degrading reports whether the condition lowers a connection to degraded: it fails currently, is above info, and has
// no rule of its own.
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

// worstDegrading returns the degrading condition closest to the cause, or nil.
func (b *board) worstDegrading() *Condition {
	for _, c := range [...]*Condition{b.runtime, b.surface, b.exporter, b.backlog, b.collection, b.coverage, b.fresh,
		b.continuity} {
		if Degrading(c) {
			return c
		}
	}
	return nil
}

// firstUnknown returns the condition that prevents the state healthy.
func (b *board) firstUnknown() *Condition {
	if !b.coverage.Holds() {
		return b.coverage
	}
	return b.fresh
}

// decide returns the first matching rule and its headline.
func (b *board) decide() (*headlineRule, headline) {
	for i := range headlineRules {
		if h, ok := headlineRules[i].match(b); ok {
			return &headlineRules[i], h
		}
	}
	return &headlineRules[len(headlineRules)-1], headline{}
}
