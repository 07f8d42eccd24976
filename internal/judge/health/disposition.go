package health

// DispositionInput is what decides whether missing data can still arrive.
type DispositionInput struct {
	Coverage   Coverage
	Attention  bool // a question waits for the owner
	Freshness  Freshness
	ManualOnly bool
}

// future is what coverage implies about missing data.
type future int

const (
	futureUnknown  future = iota // it is unknown whether anything is missing
	futureComplete               // all that is meant to be collected is here
	futureLaterRun               // a later run can fetch what is missing
	futureTerminal               // no run can fetch what is missing
)

// futureOf classifies coverage; an unknown value is undetermined.
func futureOf(c Coverage) future {
	switch c {
	case TerminalGap, Unsupported, Unavailable:
		return futureTerminal
	case Partial, Gapped, RetryableGap:
		return futureLaterRun
	case Complete, Deferred, InventoryOnly:
		return futureComplete
	default:
		return futureUnknown
	}
}

// outstanding reports whether data is missing according to the coverage.
func outstanding(c Coverage) bool { return futureOf(c) >= futureLaterRun }

// dispositionRule is one row of dispositionRules.
type dispositionRule struct {
	When   string
	Result Disposition
	holds  func(future, DispositionInput) bool
}

// dispositionRules are tried in order; the first that holds decides. Gaps come
// before freshness, so that staleness never hides one.
var dispositionRules = [...]dispositionRule{
	{"something is missing and a question waits for the owner", DispositionAwaitingOwner,
		func(f future, in DispositionInput) bool { return in.Attention && f >= futureLaterRun }},
	{"coverage is terminal_gap, unsupported or unavailable", DispositionTerminal,
		func(f future, _ DispositionInput) bool { return f == futureTerminal }},
	{"coverage is partial, gaps or retryable_gap", DispositionResumable,
		func(f future, _ DispositionInput) bool { return f == futureLaterRun }},
	{"coverage is not known", DispositionChecking,
		func(f future, _ DispositionInput) bool { return f == futureUnknown }},
	{"the data is stale and only the owner refreshes it", DispositionOwnerRefreshDue,
		func(_ future, in DispositionInput) bool { return in.ManualOnly && in.Freshness == Stale }},
	{"otherwise", DispositionComplete,
		func(future, DispositionInput) bool { return true }},
}

// DeriveDisposition returns whether missing data can still arrive. No other function decides this.
func DeriveDisposition(in DispositionInput) Disposition {
	f := futureOf(in.Coverage)
	for i := range dispositionRules {
		if dispositionRules[i].holds(f, in) {
			return dispositionRules[i].Result
		}
	}
	return DispositionChecking
}
