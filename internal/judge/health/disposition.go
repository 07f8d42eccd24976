package health

// DispositionInput is what the future of missing data depends on.
type DispositionInput struct {
	Coverage   Coverage
	Attention  bool // a question waits for the owner
	Freshness  Freshness
	ManualOnly bool
}

// future is what coverage says about missing data.
type future int

const (
	unsettled   future = iota // it is not known whether anything is missing
	nothingMore               // nothing is missing that is meant to be collected
	laterRun                  // a later run can fill what is missing
	noRun                     // no run can
)

// futureOf sorts coverage; a value that is not known settles nothing.
func futureOf(c Coverage) future {
	switch c {
	case TerminalGap, Unsupported, Unavailable:
		return noRun
	case Partial, Gapped, RetryableGap:
		return laterRun
	case Complete, Deferred, InventoryOnly:
		return nothingMore
	default:
		return unsettled
	}
}

// outstanding reports whether the coverage says that something is missing.
func outstanding(c Coverage) bool { return futureOf(c) >= laterRun }

// dispositionRule is one line of the table below.
type dispositionRule struct {
	When   string
	Result Disposition
	holds  func(future, DispositionInput) bool
}

// dispositionRules are tried in order; the first that holds decides. Gaps come
// before freshness, so that staleness never hides one.
var dispositionRules = [...]dispositionRule{
	{"something is missing and a question waits for the owner", DispositionAwaitingOwner,
		func(f future, in DispositionInput) bool { return in.Attention && f >= laterRun }},
	{"coverage is terminal_gap, unsupported or unavailable", DispositionTerminal,
		func(f future, _ DispositionInput) bool { return f == noRun }},
	{"coverage is partial, gaps or retryable_gap", DispositionResumable,
		func(f future, _ DispositionInput) bool { return f == laterRun }},
	{"coverage is not known", DispositionChecking,
		func(f future, _ DispositionInput) bool { return f == unsettled }},
	{"the data is stale and only the owner refreshes it", DispositionOwnerRefreshDue,
		func(_ future, in DispositionInput) bool { return in.ManualOnly && in.Freshness == Stale }},
	{"otherwise", DispositionComplete,
		func(future, DispositionInput) bool { return true }},
}

// DeriveDisposition is the only judge of whether missing data can still arrive.
func DeriveDisposition(in DispositionInput) Disposition {
	f := futureOf(in.Coverage)
	for i := range dispositionRules {
		if dispositionRules[i].holds(f, in) {
			return dispositionRules[i].Result
		}
	}
	return DispositionChecking
}
