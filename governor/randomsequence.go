package governor

// randomSequence is SplitMix64. Jitter depends only on the seed, so that runs can be repeated exactly.
type randomSequence uint64

// float returns the next number in [0, 1).
func (s *randomSequence) float() float64 {
	*s += 0x9e3779b97f4a7c15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
