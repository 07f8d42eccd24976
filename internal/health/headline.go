package health

import "slices"

// board is the conditions by type, for the rules below.
type board struct {
	all        []Condition
	syncing    bool
	manualOnly bool
	outbox     Outbox
	surface    Surface
}

func (b *board) of(t ConditionType) *Condition {
	for i := range b.all {
		if b.all[i].Type == t {
			return &b.all[i]
		}
	}
	return &Condition{Type: t, Status: StatusUnknown, Current: true}
}

func (b *board) fails(t ConditionType) *Condition {
	if c := b.of(t); c.Fails() {
		return c
	}
	return nil
}

func (b *board) blocked(types ...ConditionType) *Condition {
	for _, t := range types {
		if c := b.fails(t); c != nil && c.Severity == BlockedSeverity {
			return c
		}
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

func silently(c *Condition, holds bool) (headline, bool) { return headline{dominant: c}, holds }

// headlineRules are tried in order; the first that matches decides. Evidence
// that expired or was superseded is not current and matches nowhere.
var headlineRules = []headlineRule{
	{"unreadable evidence", "ProjectionReliable is false", Unknown,
		func(b *board) (headline, bool) {
			c := b.fails(ProjectionReliable)
			return silently(c, c != nil)
		}},
	{"open question", "AttentionClear is false", NeedsAttention,
		func(b *board) (headline, bool) { return byCondition(b.fails(AttentionClear)) }},
	{"paused by the owner", "ScheduleEligible is false", Idle,
		func(b *board) (headline, bool) {
			c := b.fails(ScheduleEligible)
			return silently(c, c != nil)
		}},
	{"credential or runtime missing", "CredentialsValid or RuntimeAvailable is false at severity blocked", Blocked,
		func(b *board) (headline, bool) { return byCondition(b.blocked(CredentialsValid, RuntimeAvailable)) }},
	{"scheduler gave up", "RetryPolicyClear is false at severity blocked", Blocked,
		func(b *board) (headline, bool) { return byCondition(b.blocked(RetryPolicyClear)) }},
	{"degrading condition", "a degrading condition is false (see degrading)", Degraded,
		func(b *board) (headline, bool) { return byCondition(b.worstDegrading()) }},
	{"active backoff", "RetryPolicyClear is false", CoolingOff,
		func(b *board) (headline, bool) { return byCondition(b.fails(RetryPolicyClear)) }},
	{"fresh without a collection", "CollectionSucceeded is unknown, Fresh is true, and no device is uploading", Unknown,
		func(b *board) (headline, bool) {
			c := b.of(CollectionSucceeded)
			return headline{c, "collection"}, c.Status == StatusUnknown && b.of(FreshCondition).Holds() && b.outbox != OutboxActive
		}},
	{"remote browser unknown", "RemoteSurfaceAvailable is unknown", Unknown,
		func(b *board) (headline, bool) {
			c := b.of(RemoteSurfaceAvailable)
			return headline{c, Text(c.Reason)}, b.surface == SurfaceUnknown
		}},
	{"manual refresh due", "only the owner refreshes, Fresh is false (stale_manual_refresh), CollectionSucceeded and SourceCoverageComplete are true", Idle,
		func(b *board) (headline, bool) {
			c := b.of(FreshCondition)
			due := b.manualOnly && c.Fails() && c.Reason == ReasonStaleManual
			return headline{c, ReasonStaleManual}, due && b.of(CollectionSucceeded).Holds() && b.of(SourceCoverageComplete).Holds()
		}},
	{"never collected", "CollectionSucceeded is unknown", Idle,
		func(b *board) (headline, bool) {
			c := b.of(CollectionSucceeded)
			return silently(c, c.Status == StatusUnknown)
		}},
	{"all good", "CollectionSucceeded, SourceCoverageComplete and Fresh are true, and no condition that matters is false", Healthy,
		func(b *board) (headline, bool) {
			good := b.of(CollectionSucceeded).Holds() && b.of(SourceCoverageComplete).Holds() && b.of(FreshCondition).Holds()
			return silently(b.of(CollectionSucceeded), good && !slices.ContainsFunc(clearTypes, func(t ConditionType) bool { return b.fails(t) != nil }))
		}},
	{"unclassified", "otherwise", Unknown,
		func(b *board) (headline, bool) { return headline{b.firstUnknown(), "unclassified"}, true }},
}

// clearTypes must not be false on a healthy connection.
var clearTypes = []ConditionType{
	AttentionClear, ProjectionReliable, RetryPolicyClear, RuntimeAvailable, RemoteSurfaceAvailable, LocalExporterAvailable,
}

// notDegrading are judged by rules of their own.
var notDegrading = []ConditionType{ScheduleEligible, AttentionClear, RetryPolicyClear, CredentialsValid, ProjectionReliable}

// Degrading reports whether the condition lowers a connection to degraded: it is
// currently false, above info, and no rule of its own judges it.
func Degrading(c *Condition) bool {
	return c.Fails() && c.Severity != Info && !slices.Contains(notDegrading, c.Type)
}

// degradingOrder is which degrading condition is named first.
var degradingOrder = []ConditionType{
	RuntimeAvailable, RemoteSurfaceAvailable, LocalExporterAvailable, BacklogClear, CollectionSucceeded,
	SourceCoverageComplete, FreshCondition, CredentialContinuity,
}

func (b *board) worstDegrading() *Condition {
	for _, t := range degradingOrder {
		if c := b.of(t); Degrading(c) {
			return c
		}
	}
	return nil
}

func (b *board) firstUnknown() *Condition {
	for _, t := range []ConditionType{SourceCoverageComplete, FreshCondition} {
		if c := b.of(t); !c.Holds() {
			return c
		}
	}
	return nil
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
