package chatgpt_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
	sim "github.com/pdpp-go/pdpp/providersim/chatgpt"
)

// TestTimeCapAndNone checks the owner's longest run, and runs without one. Invalid values set no cap. A run that the
// site stops leaves one gap per conversation. A longest run ends between two conversations with a neutral message,
// and later runs collect the rest.
func TestTimeCapAndNone(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-16.1", "RT-16.3", "RT-18.1", "RT-19.2"} {
		t.Attr("spec", id)
	}
	const chats = 60
	one := sim.Config{Seed: 4, Chats: chats, NoBatch: http.StatusNotFound}
	for _, senseless := range []string{"", "0", "-5", "soon"} {
		synctest.Test(t, func(t *testing.T) {
			n, g := noted(t, one)
			n.Env = map[string]string{"PDPP_CHATGPT_MAX_DETAIL_FETCHES_PER_RUN": senseless,
				"PDPP_CHATGPT_MAX_RUN_WALL_CLOCK_MS": senseless}
			n.Run()
			if got, want := len(n.Records[sim.StreamMessages]), len(g.Truth()[sim.StreamMessages]); got != want ||
				n.Pending() > 0 {
				t.Errorf("a cap of %q: %d of %d messages, %d wait", senseless, got, want, n.Pending())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := one
		cfg.DetailBurst, cfg.DetailEvery = 5, 100*time.Hour
		n, _ := noted(t, cfg)
		n.Run()
		if n.Pending() != chats-5 {
			t.Errorf("%d gaps, want one for each of %d", n.Pending(), chats-5)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		n, g := noted(t, one)
		n.Env = map[string]string{"PDPP_CHATGPT_MAX_RUN_WALL_CLOCK_MS": "8000"}
		var texts []string
		n.Observe = func(m protocol.Message) {
			if p, ok := m.(*protocol.Progress); ok && p.Stream == sim.StreamMessages {
				texts = append(texts, p.Message)
			}
			if gap, ok := m.(*protocol.DetailGap); ok &&
				(gap.Reason.SourcePressure() || gap.Detail == nil || gap.Detail.Class != protocol.ClassRunCap) {
				t.Errorf("gap %s: %+v", gap.RecordKey, gap)
			}
		}
		for runs := 1; ; runs++ {
			from := len(g.Gate().Requests())
			n.Run()
			var first, last time.Time
			for _, r := range g.Gate().Requests()[from:] {
				if strings.HasPrefix(r.Path, "/backend-api/conversation/") {
					if last = r.At; first.IsZero() {
						first = r.At
					}
				}
			}
			if took := last.Sub(first); took > 8*time.Second {
				t.Errorf("run %d asked for conversations for %s", runs, took)
			}
			if n.Pending() == 0 {
				if runs < 2 {
					t.Error("one run brought everything: the time was no cap")
				}
				break
			}
			if runs > 20 {
				t.Fatalf("%d wait after %d runs", n.Pending(), runs)
			}
			time.Sleep(time.Hour)
		}
		if got, want := len(n.Records[sim.StreamMessages]), len(g.Truth()[sim.StreamMessages]); got != want {
			t.Errorf("%d of %d messages", got, want)
		}
		message := strings.Join(texts, "\n")
		if !strings.Contains(message, "limit you set") || !strings.Contains(message, "next run") ||
			strings.Contains(message, "busy") {
			t.Errorf("reported %s", message)
		}
	})
}
