package consoletest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// A connection's page shows one verdict over evidence that was read once. The verdict, its reasons
// and the next step cannot contradict each other.
func TestConnectionPageIsOneJudgement(t *testing.T) {
	t.Parallel()
	address, facts := plantShelf(t, evidence.Runtime{}, pressed("con_1", 37, 0))
	if answer, err := http.Get(address + "/settings"); err != nil { // the menu remembers its numbers for a while
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	for _, path := range []string{"/sources/con_1", "/_ref/connections/con_1", "/_ref/connections/con_1/why"} {
		facts.reads.Store(0)
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "37 items of trees missing") {
			t.Fatalf("%s: %s, %v: the reasons are not there", path, answer.Status, err)
		}
		if n := facts.reads.Load(); n != 1 {
			t.Errorf("%s reads evidence %d times", path, n)
		}
	}
}
