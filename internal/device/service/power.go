package service

// Power is how the machine is supplied, and what its network costs. The zero value is
// what nothing is known about.
type Power struct {
	OnBattery bool
	Percent   int  // of the battery; meaningless without one
	Metered   bool // the network is paid for by what goes through it
}

// lowBattery is the charge below which only what is new is collected.
const lowBattery = 20

// Low reports whether history is to wait.
func (p Power) Low() bool { return p.OnBattery && p.Percent < lowBattery || p.Metered }
