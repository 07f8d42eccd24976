package protocol

import (
	"testing"

	"github.com/go-json-experiment/json"
)

// A count that cannot be trusted is not measured, and never refused.
func TestCountIsLenient(t *testing.T) {
	for literal, want := range map[string]Count{
		`0`: CountOf(0), `7`: CountOf(7), `9007199254740991`: CountOf(maxSafeInt),
		`9007199254740992`: {}, `-1`: {}, `1.5`: {}, `1e3`: {}, `"7"`: {}, `null`: {}, `true`: {}, `[7]`: {}, `{"n":7}`: {},
		`99999999999999999999`: {},
	} {
		cov := decoded[*DetailCoverage](
			t,
			FromConnector,
			edited(t, TypeDetailCoverage, `{"considered":`+literal+`,"covered":`+literal+`}`),
		)
		if cov.Considered != want || cov.Covered != want {
			t.Errorf("%s reads as %+v and %+v, want %+v", literal, cov.Considered, cov.Covered, want)
		}
	}
	if cov := decoded[*DetailCoverage](t, FromConnector, []byte(smallest[TypeDetailCoverage])); cov.Considered.Measured {
		t.Error("an absent count is measured")
	}
}

// Zero is a measurement and stays on the wire.
func TestCountZeroIsNotAbsent(t *testing.T) {
	type counts struct {
		A Count `json:"a,omitzero"`
		B Count `json:"b,omitzero"`
	}
	if b, err := json.Marshal(counts{A: CountOf(0)}); err != nil || string(b) != `{"a":0}` {
		t.Errorf("%s (%v)", b, err)
	}
}
