package protocol

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSafeInt is the largest integer that every JSON implementation represents exactly.
const maxSafeInt = 1<<53 - 1

// Count is an optional measurement. A value other than a safe non-negative integer decodes as not measured,
// because a wrong count is worse than none.
type Count struct {
	N        int64
	Measured bool
}

// CountOf returns a measured count.
func CountOf(n int64) Count { return Count{N: n, Measured: true} }

// IsZero reports whether the count is not measured, so that omitzero omits it.
func (c Count) IsZero() bool { return !c.Measured }

// MarshalJSONTo writes the number.
func (c Count) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.Int(c.N))
}

// UnmarshalJSONFrom ignores values other than safe counts.
func (c *Count) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*c = Count{}
	if n, ok := safeCount(v); ok {
		*c = CountOf(n)
	}
	return nil
}

func safeCount(v jsontext.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil && n >= 0 && n <= maxSafeInt
}
