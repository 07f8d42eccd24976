package health

import "slices"

// DispositionInput is what the future of missing data depends on.
type DispositionInput struct {
	Coverage   Coverage
	Attention  bool // a question waits for the owner
	Freshness  Freshness
	ManualOnly bool
}

// dispositionRule is one line of the table below.
type dispositionRule struct {
	When   string
	Result Disposition
	holds  func(DispositionInput) bool
}

// dispositionRules are tried in order; the first that holds decides. Gaps come
// before freshness, so that staleness never hides one.
var dispositionRules = []dispositionRule{
	{"something is missing and a question waits for the owner", DispositionAwaitingOwner,
		func(in DispositionInput) bool { return in.Attention && outstanding(in.Coverage) }},
	{"coverage is terminal_gap, unsupported or unavailable", DispositionTerminal,
		func(in DispositionInput) bool { return slices.Contains(terminalCoverage, in.Coverage) }},
	{"coverage is partial, gaps or retryable_gap", DispositionResumable,
		func(in DispositionInput) bool { return slices.Contains(resumableCoverage, in.Coverage) }},
	{"coverage is not known", DispositionChecking,
		func(in DispositionInput) bool { return !slices.Contains(settledCoverage, in.Coverage) }},
	{"the data is stale and only the owner refreshes it", DispositionOwnerRefreshDue,
		func(in DispositionInput) bool { return in.ManualOnly && in.Freshness == Stale }},
	{"otherwise", DispositionComplete,
		func(DispositionInput) bool { return true }},
}

var (
	terminalCoverage  = []Coverage{TerminalGap, Unsupported, Unavailable}
	resumableCoverage = []Coverage{Partial, Gapped, RetryableGap}
	settledCoverage   = []Coverage{Complete, Deferred, InventoryOnly}
)

// outstanding reports whether the coverage says that something is missing.
func outstanding(c Coverage) bool {
	return slices.Contains(terminalCoverage, c) || slices.Contains(resumableCoverage, c)
}

// DeriveDisposition is the only judge of whether missing data can still arrive.
func DeriveDisposition(in DispositionInput) Disposition {
	for i := range dispositionRules {
		if dispositionRules[i].holds(in) {
			return dispositionRules[i].Result
		}
	}
	return DispositionChecking
}
