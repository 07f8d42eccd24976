package health

import "testing"

// oracle derives the disposition as the specification states it, independently of the table under test.
func oracle(c Coverage, asked bool, f Freshness, manual bool) Disposition {
	missing, final := false, false
	switch c {
	case "terminal_gap", "unsupported", "unavailable":
		missing, final = true, true
	case "partial", "gaps", "retryable_gap":
		missing = true
	}
	if missing && asked {
		return "awaiting_owner"
	}
	if final {
		return "terminal"
	}
	if missing {
		return "resumable"
	}
	if c != "complete" && c != "deferred" && c != "inventory_only" {
		return "checking"
	}
	if manual && f == "stale" {
		return "owner_refresh_due"
	}
	return "complete"
}

func TestDispositionOfEveryInput(t *testing.T) {
	coverages := append([]Coverage{"", "something_new"}, coverageOrder...)
	n := 0
	for _, c := range coverages {
		for _, asked := range []bool{false, true} {
			for _, f := range []Freshness{Fresh, Stale, FreshnessUnknown} {
				for _, manual := range []bool{false, true} {
					in := DispositionInput{Coverage: c, Attention: asked, Freshness: f, ManualOnly: manual}
					if got, want := DeriveDisposition(in), oracle(c, asked, f, manual); got != want {
						t.Errorf("%+v: %s, want %s", in, got, want)
					}
					n++
				}
			}
		}
	}
	if want := (10 + 2) * 2 * 3 * 2; n != want {
		t.Errorf("%d inputs, want %d: a coverage is missing from the order", n, want)
	}
}
