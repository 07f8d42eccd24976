package source

import "testing"

// SetMostPartitions changes the bound of a run's partitions until the test ends.
func SetMostPartitions(t *testing.T, n int) {
	before := maxPartitions
	maxPartitions = n
	t.Cleanup(func() { maxPartitions = before })
}
