package main

import (
	"cmp"
	"crypto/sha256"
	"slices"
)

// order returns the faults in the order in which a seed selects them. The operators alternate, so
// that the most frequent one does not dominate the sample.
func order(faults []fault, seed string) []fault {
	byOperator := map[string][]fault{}
	for _, f := range faults {
		byOperator[f.Operator] = append(byOperator[f.Operator], f)
	}
	names := make([]string, 0, len(byOperator))
	for name, list := range byOperator {
		names = append(names, name)
		slices.SortFunc(list, func(a, b fault) int { return cmp.Compare(rank(a, seed), rank(b, seed)) })
	}
	slices.Sort(names)
	out := make([]fault, 0, len(faults))
	for turn := 0; len(out) < len(faults); turn++ {
		for _, name := range names {
			if list := byOperator[name]; turn < len(list) {
				out = append(out, list[turn])
			}
		}
	}
	return out
}

func rank(f fault, seed string) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + f.ID))
	return string(sum[:])
}
