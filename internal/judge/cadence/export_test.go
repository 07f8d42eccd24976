package cadence

// Names for the external tests of this package. They are external because they import health, which imports this
// package.
var (
	Noon   = noon
	At     = at
	Ready  = ready
	Failed = failed
	Waits  = waits
)
