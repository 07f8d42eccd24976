package cadence

// What the tests beside health use of the tests in here: health imports this
// package, so those stand outside.
var (
	Noon   = noon
	At     = at
	Ready  = ready
	Failed = failed
	Waits  = waits
)
