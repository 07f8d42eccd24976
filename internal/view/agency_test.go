package view

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/manifest"
)

func ownerActions(c *Connection) (n int) {
	for i := range c.Verdict.RequiredActions {
		if c.Verdict.RequiredActions[i].Audience == verdict.AudienceOwner {
			n++
		}
	}
	return n
}

// Who must act follows from the manifest and from durable facts. The owner is asked only for what the system cannot
// do.
func TestAgencyFollowsTheManifest(t *testing.T) {
	t.Attr("spec", "CH-29")
	drains := judged(pressed("cin_1"))
	if drains.Verdict.Channel != verdict.Calm || ownerActions(&drains) != 0 || drains.Verdict.Push() {
		t.Errorf("a drain that goes on by itself asks for something: %s, %+v", drains.Verdict.Channel,
			drains.Verdict.RequiredActions)
	}
	if c := drains.Health.Condition(health.SourceCoverageComplete); c.Status != health.False ||
		len(drains.Verdict.Detail.Conditions) == 0 {
		t.Errorf("the drain is not told in the detail: %+v", c)
	}
	old := func(mode manifest.RefreshMode) Connection {
		e := collected("cin_1")
		e.Refresh.RecommendedMode = mode
		e.LastRun.StartedAt, e.LastRun.EndedAt, e.LastSuccessAt = *ago(73 * time.Hour), *ago(72 * time.Hour),
			ago(72*time.Hour)
		return judged(e)
	}
	byHand, byItself := old(manifest.RefreshManual), old(manifest.RefreshAutomatic)
	if byHand.Verdict.Channel != verdict.Advisory || ownerActions(&byHand) == 0 {
		t.Errorf("only the owner can refresh, and is not told: %s", byHand.Verdict.Channel)
	}
	if byItself.Verdict.Channel != verdict.Calm || ownerActions(&byItself) != 0 {
		t.Errorf("the schedule refreshes, and the owner is asked: %s, %+v", byItself.Verdict.Channel,
			byItself.Verdict.RequiredActions)
	}
	lost := judged(rejected("cin_1"))
	if lost.Verdict.Channel != verdict.Attention || !lost.Verdict.Push() {
		t.Errorf("only the owner can reconnect, and is not called: %s", lost.Verdict.Channel)
	}
}

// A push goes out only for what needs the owner and what they can do.
func TestPushObeysTheChannel(t *testing.T) {
	t.Attr("spec", "CH-29")
	r := rand.New(rand.NewPCG(7, 8))
	pushed := 0
	for range 20_000 {
		e := random(r, "cin_1")
		c := Judge(&e, noon, r.IntN(4) > 0)
		if !c.Verdict.Push() {
			continue
		}
		pushed++
		first := c.Verdict.RequiredActions[0]
		if c.Verdict.Channel != verdict.Attention || first.Audience != verdict.AudienceOwner ||
			first.SatisfiedWhen.Kind == verdict.NothingSatisfiesThis {
			t.Fatalf("pushed on %s for %+v", c.Verdict.Channel, first)
		}
	}
	if pushed == 0 {
		t.Error("nothing was ever pushed")
	}
}
