package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/view"
)

// Every connection has one state, so that the states add up. Stalled uploads are counted separately.
func TestStatesAddUp(t *testing.T) {
	text := stateSummary(view.Summary{Registered: 6, Attention: 2, Calm: 4, Blocked: 1, Degraded: 1, Healthy: 4,
		Stalled: 1})
	_, states, _ := strings.Cut(text, "By state: ")
	states, beside, _ := strings.Cut(states, ".")
	sum := 0
	for part := range strings.SplitSeq(states, ", ") {
		n := 0
		if _, err := fmt.Sscan(part, &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != 6 || beside != " 1 has uploads stalled on a device." {
		t.Errorf("%d connections: %s", sum, text)
	}
}
