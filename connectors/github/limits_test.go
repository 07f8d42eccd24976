package github_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
)

// TestLimits meets GitHub's limits with the whole connector.
func TestLimits(t *testing.T) {
	c := testTarget(t, roomy())
	t.Run("primary limit", func(t *testing.T) { primaryLimit(t, newBed(t, c, withPrimary(30))) })
	t.Run("primary limit within the lists", func(t *testing.T) { primaryLimit(t, newBed(t, c, withPrimary(8))) })
	t.Run("unchanged pages are free", func(t *testing.T) { freeOfCharge(t, newBed(t, c, roomy())) })
	t.Run("refused for good", func(t *testing.T) { forbidden(t, newBed(t, c, fineGrained())) })
	t.Run("more on one day than a search gives", func(t *testing.T) { crowdedDay(t, newBed(t, c, crowded())) })
}

func withPrimary(n int) github.Config {
	cfg := roomy()
	cfg.Primary = n
	return cfg
}

func fineGrained() github.Config {
	cfg := roomy()
	cfg.FineGrained = true
	return cfg
}

func crowded() github.Config {
	cfg := roomy()
	cfg.SameDay = true
	return cfg
}

// primaryLimit spends the hidden allowance again and again. Each run keeps what it
// got, declares the rest as the provider's pressure and asks nothing more; hour by
// hour everything arrives.
func primaryLimit(t *testing.T, b *bed) {
	for run := range 40 {
		result := b.Run(t, launch.RunRequest{})
		b.VerifyNothingInvented(t)
		if n := b.sim.Gate().Stats().ByStatus[http.StatusForbidden]; n > run+1 {
			t.Fatalf("run %d went on after the limit: %d refusals", run+1, n)
		}
		for _, g := range b.Gaps(t, protocol.GapPending) {
			if !g.Reason.SourcePressure() {
				t.Fatalf("gap %s has reason %s, which is not the provider's pressure", g.RecordKey, g.Reason)
			}
		}
		if result.Status == runner.Succeeded {
			b.Verify(t)
			if len(b.Gaps(t, protocol.GapPending)) == 0 {
				b.VerifyComplete(t)
				return
			}
		} else if e := result.DoneError; e == nil || e.Retryable == nil || !*e.Retryable {
			t.Fatalf("run %d: a limit reads as final: %+v", run+1, e)
		}
		b.sim.Advance(61 * time.Minute)
		b.Clock += 24 * time.Hour
	}
	t.Fatal("the account was not collected within 40 hours")
}

// freeOfCharge counts requests at the provider. After a run that saw every list unchanged, the next one pays only for
// the profile and the search.
func freeOfCharge(t *testing.T, b *bed) {
	b.Succeed(t)
	b.Succeed(t)
	used, gate := b.sim.Used("core"), b.sim.Gate()
	gate.ResetStats()
	b.Succeed(t)
	lists := map[string]int{}
	for _, r := range gate.Requests() {
		if r.Path != "/user" && !strings.HasPrefix(r.Path, "/search/") {
			lists[r.Path]++
			if r.Status != http.StatusNotModified {
				t.Errorf("%s answered %d to an unchanged list", r.Path, r.Status)
			}
		}
	}
	if len(lists) != 5 {
		t.Errorf("lists %v were asked for, want five", lists)
	}
	if paid := b.sim.Used("core") - used; paid != 1 {
		t.Errorf("%d requests were paid for, want one", paid)
	}
	b.VerifyComplete(t)
}

// forbidden collects with a token that lacks permissions. The error is a missing permission and not a rate limit.
func forbidden(t *testing.T, b *bed) {
	if _, err := b.sim.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{github.ScopeUser}}); err != nil {
		t.Fatal(err)
	}
	result := b.Run(t, launch.RunRequest{})
	if e := result.DoneError; result.Status != runner.Failed || e == nil || e.Retryable == nil || *e.Retryable ||
		e.RecoveryHint == nil || e.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Errorf("ended as %s: %+v", result.Status, e)
	}
	final := b.Gaps(t, protocol.GapTerminal)
	for _, g := range final {
		if g.Reason != "permanent_forbidden" {
			t.Errorf("gap %s has reason %s", g.RecordKey, g.Reason)
		}
	}
	if len(final) == 0 {
		t.Error("no detail is declared as forbidden")
	}
	if all, _ := b.count(t, github.StreamStarred); all == 0 {
		t.Error("what the token may see was not collected")
	}
}

// crowdedDay has more pull requests on one day than a query returns. The unreachable ones are declared.
func crowdedDay(t *testing.T, b *bed) {
	result := b.Succeed(t)
	all, _ := b.count(t, github.StreamPulls)
	if truth := len(b.sim.Truth()[github.StreamPulls]); all < 20 || all >= truth {
		t.Errorf("%d of %d pull requests are stored: the day was not crowded", all, truth)
	}
	if len(result.KnownGaps) == 0 {
		t.Error("pull requests out of reach are not declared")
	}
	b.VerifyNothingInvented(t)
}
